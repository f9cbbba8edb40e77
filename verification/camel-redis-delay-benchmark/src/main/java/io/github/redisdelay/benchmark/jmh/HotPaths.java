// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.jmh;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Experiment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.camel.delivery.DeliveryBenchmark;
import io.github.redisdelay.queue.GroupCommitBenchmark;
import io.github.redisdelay.queue.envelope.EnvelopeBenchmark;
import java.util.Collection;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The Java code that each message passes, without Redis: run by JMH in JVMs of its own. */
public final class HotPaths implements Experiment {

    private static final String ALLOCATED = "gc.alloc.rate.norm";

    @Override
    public String name() {
        return "jmh";
    }

    @Override
    public void run(Environment environment, Figures figures) throws Exception {
        boolean quick = environment.quick();
        Collection<RunResult> results = new Runner(new OptionsBuilder()
                        .include(EnvelopeBenchmark.class.getName())
                        .include(GroupCommitBenchmark.class.getName())
                        .include(DeliveryBenchmark.class.getName())
                        .forks(1)
                        .jvmArgs("-Xms1g", "-Xmx1g")
                        .warmupIterations(quick ? 1 : 3)
                        .warmupTime(TimeValue.milliseconds(quick ? 300 : 1000))
                        .measurementIterations(quick ? 1 : 5)
                        .measurementTime(TimeValue.milliseconds(quick ? 300 : 1000))
                        .addProfiler(GCProfiler.class)
                        .verbosity(VerboseMode.SILENT)
                        .shouldFailOnError(true)
                        .build())
                .run();
        for (RunResult result : results) {
            for (BenchmarkResult fork : result.getBenchmarkResults()) {
                int iteration = 0;
                for (IterationResult measured : fork.getIterationResults()) {
                    report(figures, result.getParams().getBenchmark(), ++iteration, measured);
                }
            }
        }
    }

    private void report(Figures figures, String benchmark, int iteration, IterationResult measured) {
        // Class and method.
        String parameter = benchmark.replaceAll(".*\\.([^.]+)Benchmark\\.([^.]+)$", "$1.$2");
        figures.add(
                name(),
                Subject.QUEUE,
                parameter,
                iteration,
                "time",
                measured.getPrimaryResult().getScore(),
                "ns");
        Result<?> allocated = measured.getSecondaryResults().get(ALLOCATED);
        if (allocated != null) {
            figures.add(name(), Subject.QUEUE, parameter, iteration, "allocated", allocated.getScore(), "bytes");
        }
    }
}
