// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.faults.SoakSamples.Metric;
import io.github.redisdelay.faults.SoakSamples.Sample;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.io.IOException;
import java.nio.file.Path;
import java.text.DecimalFormat;
import java.util.List;
import org.jfree.chart.ChartUtils;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.annotations.XYTitleAnnotation;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.NumberTickUnit;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.plot.CombinedDomainXYPlot;
import org.jfree.chart.plot.ValueMarker;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.title.LegendTitle;
import org.jfree.chart.ui.Layer;
import org.jfree.chart.ui.RectangleAnchor;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;

/**
 * Draws the samples of a soak over time: one picture with a strip for each kind of figure, and a line wherever a fault
 * began.
 */
final class SoakChart {

    private static final int WIDTH = 1000;
    private static final int STRIP_HEIGHT = 170;
    private static final Font FONT = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
    private static final List<Color> COLOURS = List.of(new Color(0x1F6FB4), new Color(0xE08E1A), new Color(0xD1495B));

    /** The metrics that are drawn on one axis. */
    private record Strip(String unit, boolean logarithmic, List<Metric> metrics) {}

    private static final List<Strip> STRIPS = List.of(
            new Strip("MB", false, List.of(Metric.HEAP)),
            new Strip("MB", false, List.of(Metric.RESIDENT)),
            new Strip("", false, List.of(Metric.THREADS, Metric.CONNECTIONS)),
            new Strip("MB", false, List.of(Metric.REDIS_MEMORY, Metric.BOOKKEEPING)),
            new Strip("", false, List.of(Metric.PENDING, Metric.KEYS, Metric.DELIVERED)),
            new Strip("ms", true, List.of(Metric.LATENESS_P50, Metric.LATENESS_P99, Metric.LATENESS_MAX)));

    private SoakChart() {}

    /**
     * Writes a PNG.
     *
     * @param faults when faults began, in seconds
     */
    static void draw(Path file, String title, List<Sample> samples, List<Double> faults) throws IOException {
        System.setProperty("java.awt.headless", "true");
        NumberAxis time = new NumberAxis("minutes");
        time.setAutoRangeIncludesZero(true);
        time.setLabelFont(FONT);
        time.setTickLabelFont(FONT);
        CombinedDomainXYPlot all = new CombinedDomainXYPlot(time);
        all.setGap(8);
        for (Strip strip : STRIPS) {
            XYPlot plot = plot(strip, samples);
            for (int i = 0; i < strip.metrics().size(); i++) {
                plot.getRenderer().setSeriesPaint(i, COLOURS.get(i));
            }
            for (double seconds : faults) {
                plot.addDomainMarker(
                        new ValueMarker(seconds / 60, new Color(0xC8C8C8), new BasicStroke(0.8f)), Layer.BACKGROUND);
            }
            all.add(plot, 1);
        }
        JFreeChart chart = new JFreeChart(title, FONT.deriveFont(Font.BOLD, 16f), all, false);
        chart.setBackgroundPaint(Color.WHITE);
        ChartUtils.saveChartAsPNG(file.toFile(), chart, WIDTH, STRIP_HEIGHT * STRIPS.size() + 100);
    }

    private static XYPlot plot(Strip strip, List<Sample> samples) {
        XYSeriesCollection lines = new XYSeriesCollection();
        double smallest = Double.MAX_VALUE;
        double largest = 1;
        for (Metric metric : strip.metrics()) {
            XYSeries line = new XYSeries(metric.title + (metric.unit.isEmpty() ? "" : " [" + metric.unit + "]"));
            for (Sample sample : samples) {
                Double value = sample.values().get(metric);
                if (value != null && (!strip.logarithmic() || value > 0)) {
                    line.add(sample.seconds() / 60, value.doubleValue());
                    smallest = Math.min(smallest, value);
                    largest = Math.max(largest, value);
                }
            }
            lines.addSeries(line);
        }
        ValueAxis axis;
        if (strip.logarithmic()) {
            LogAxis logarithmic = new LogAxis(strip.unit());
            logarithmic.setTickUnit(new NumberTickUnit(1)); // powers of ten
            logarithmic.setNumberFormatOverride(new DecimalFormat("0.###"));
            logarithmic.setRange(Math.min(smallest, largest) * 0.8, largest * 10);
            axis = logarithmic;
        } else {
            axis = new NumberAxis(strip.unit());
            axis.setRange(0, largest * 1.4); // with room for the legend
        }
        axis.setLabelFont(FONT);
        axis.setTickLabelFont(FONT);
        XYPlot plot = new XYPlot(lines, null, axis, new XYLineAndShapeRenderer(true, false));
        plot.setBackgroundPaint(Color.WHITE);
        plot.setRangeGridlinePaint(new Color(0xCCCCCC));
        plot.setDomainGridlinesVisible(false);
        plot.setOutlineVisible(false);
        LegendTitle legend = new LegendTitle(plot);
        legend.setItemFont(FONT);
        plot.addAnnotation(new XYTitleAnnotation(0.01, 0.98, legend, RectangleAnchor.TOP_LEFT));
        return plot;
    }
}
