// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.camel.connection.RefCounted.Reference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RefCountedTest {

    private final List<String> events = new ArrayList<>();
    private boolean broken;

    private final RefCounted<String, String> resources = new RefCounted<>(
            key -> {
                if (broken) {
                    throw new IllegalStateException("cannot");
                }
                events.add("open " + key);
                return key + "!";
            },
            resource -> events.add("close " + resource));

    @Test
    void should_share_one_for_equal_keys_and_close_it_with_the_last() throws Exception {
        Reference<String> first = resources.acquire("a");
        Reference<String> second = resources.acquire("a");
        Reference<String> other = resources.acquire("b");
        assertThat(second.get()).isEqualTo("a!").isSameAs(first.get());

        first.release();
        assertThat(events).containsExactly("open a", "open b");
        second.release();
        assertThat(events).containsExactly("open a", "open b", "close a!");
        other.release();
        assertThat(resources.size()).isZero();
    }

    @Test
    void should_stay_open_for_a_retained_share_and_leave_the_closing_to_another_thread() throws Exception {
        Reference<String> first = resources.acquire("a");
        Reference<String> retained = first.retain();
        first.release();
        List<Runnable> tasks = new ArrayList<>();
        retained.release(tasks::add);
        assertThat(events).containsExactly("open a");
        tasks.forEach(Runnable::run);
        assertThat(events).containsExactly("open a", "close a!");
    }

    @Test
    void should_make_a_new_one_after_the_last_was_closed() throws Exception {
        resources.acquire("a").release();
        resources.acquire("a");
        assertThat(events).containsExactly("open a", "close a!", "open a");
    }

    @Test
    void should_try_again_after_one_could_not_be_made() throws Exception {
        broken = true;
        assertThatThrownBy(() -> resources.acquire("a")).hasMessage("cannot");
        assertThat(resources.size()).isZero();
        broken = false;
        assertThat(resources.acquire("a").get()).isEqualTo("a!");
    }

    @Test
    void should_close_each_once_when_all_are_closed() throws Exception {
        Reference<String> first = resources.acquire("a");
        resources.closeAll();
        first.release();
        assertThat(events).containsExactly("open a", "close a!");
    }
}
