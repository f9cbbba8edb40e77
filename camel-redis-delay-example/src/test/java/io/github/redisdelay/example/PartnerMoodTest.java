// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.example.PartnerMood.Answer;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PartnerMoodTest {

    @Test
    void theSameSeedTellsTheSameStory() {
        for (int attempt = 1; attempt <= 10; attempt++) {
            assertThat(new PartnerMood(4).answer("A-1", attempt)).isEqualTo(new PartnerMood(4).answer("A-1", attempt));
        }
    }

    @Test
    void mostlyItAnswersWell() {
        PartnerMood mood = new PartnerMood(4);
        Map<Answer, Integer> counts = new EnumMap<>(Answer.class);
        for (int order = 0; order < 1_000; order++) {
            for (int attempt = 1; attempt <= 3; attempt++) {
                counts.merge(mood.answer("A-" + order, attempt), 1, Integer::sum);
            }
        }

        assertThat(counts.get(Answer.OK)).isBetween(1_650, 1_950);
        assertThat(counts.get(Answer.SERVER_ERROR)).isBetween(350, 600);
        assertThat(counts.get(Answer.TOO_MANY_REQUESTS)).isBetween(350, 600);
        assertThat(counts.get(Answer.SILENCE)).isBetween(150, 330);
    }

    @Test
    void everyNotificationOfTheDataSetGetsThroughBeforeTheLastStep() {
        PartnerMood mood = new PartnerMood(OrderShop.SEED);

        assertThat(DataSet.shipped(8080).orders().entrySet())
                .filteredOn(order -> order.getValue().contains(PartnerRoutes.url(8080)))
                .hasSize(22)
                .allSatisfy(order -> assertThat(
                                IntStream.rangeClosed(1, 7).mapToObj(attempt -> mood.answer(order.getKey(), attempt)))
                        .as(order.getKey())
                        .contains(Answer.OK));
    }
}
