// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Random;

/**
 * Makes the data set that ships with the example, always the same one. Its main method writes it; run it from the
 * folder of the example after a change here.
 *
 * <p>About two thirds of the customers pay in time, one in fifty too late, the others never. Of the first orders, each
 * fiftieth has a partner to be notified; for the first ones that is the warehouse, which is out of order.
 */
final class DataSetGenerator {

    static final Path FOLDER = Path.of("src/main/resources/data");

    static final int ORDERS = 3_000;

    private static final long SEED = 20_260_214;

    private static final int[] WINDOW_HOURS = {10, 15, 20, 25};

    private static final int ORDERS_WITH_PARTNERS = 1_400;

    private static final int ORDERS_OF_THE_WAREHOUSE = 300;

    private static final String[] FIRST_NAMES = {
        "Ada", "Amir", "Anna", "Beatriz", "Chen", "Daniela", "David", "Elena", "Emeka", "Emma", "Farah", "Felix",
        "Giulia", "Hana", "Ines", "Ivan", "Jakub", "Jonas", "Kofi", "Lars", "Leila", "Lena", "Lucas", "Maria", "Mateo",
        "Mei", "Mohamed", "Nadia", "Noah", "Olga", "Omar", "Paula", "Pedro", "Priya", "Rosa", "Samuel", "Sofia",
        "Tomas", "Yuki", "Zoe"
    };

    private static final String[] LAST_NAMES = {
        "Adeyemi",
        "Andersson",
        "Bauer",
        "Bianchi",
        "Costa",
        "Dubois",
        "Fischer",
        "Garcia",
        "Haddad",
        "Hansen",
        "Horvat",
        "Ivanova",
        "Jansen",
        "Kim",
        "Kowalski",
        "Lopez",
        "Martin",
        "Meyer",
        "Moreau",
        "Murphy",
        "Nguyen",
        "Novak",
        "Okafor",
        "Patel",
        "Petrov",
        "Rossi",
        "Santos",
        "Sato",
        "Schmidt",
        "Silva",
        "Smith",
        "Tanaka",
        "Virtanen",
        "Wagner",
        "Weber",
        "Wilson",
        "Yilmaz",
        "Zhang"
    };

    /** Name and price in cents. */
    private static final Object[][] ARTICLES = {
        {"Bicycle light, front", 3490},
        {"Bread knife", 2795},
        {"Camping stove", 6450},
        {"Coffee grinder", 8900},
        {"Cotton bed linen", 5999},
        {"Desk lamp", 4590},
        {"Espresso cups, set of 6", 3200},
        {"Field guide to birds", 2450},
        {"Fountain pen", 5400},
        {"Garden shears", 2190},
        {"Hiking boots", 14900},
        {"Kettle", 3999},
        {"Merino jumper", 9950},
        {"Mixing bowl", 1850},
        {"Noise-cancelling headphones", 22900},
        {"Notebook A5, dotted", 1290},
        {"Paper lantern", 990},
        {"Pressure cooker", 11900},
        {"Rain jacket", 13900},
        {"Rucksack, 30 l", 8490},
        {"Sourdough starter kit", 1795},
        {"Tea towel", 895},
        {"Thermos flask", 2990},
        {"Travel chess", 1990},
        {"USB-C charger", 3595},
        {"Watering can", 2340},
        {"Wooden train set", 4750},
        {"Yoga mat", 3990}
    };

    private final Random random = new Random(SEED);
    private final StringBuilder orders = new StringBuilder();
    private final StringBuilder payments = new StringBuilder();

    private DataSetGenerator() {
        for (int i = 0; i < ORDERS; i++) {
            add(i, "R-" + (100_001 + i));
        }
    }

    static DataSetGenerator generate() {
        return new DataSetGenerator();
    }

    public static void main(String[] args) throws IOException {
        DataSetGenerator dataSet = generate();
        Files.createDirectories(FOLDER);
        Files.writeString(FOLDER.resolve("orders.ndjson"), dataSet.orders());
        Files.writeString(FOLDER.resolve("payments.ndjson"), dataSet.payments());
    }

    /** The content of {@code orders.ndjson}. */
    String orders() {
        return orders.toString();
    }

    /** The content of {@code payments.ndjson}. */
    String payments() {
        return payments.toString();
    }

    private void add(int number, String id) {
        String first = FIRST_NAMES[random.nextInt(FIRST_NAMES.length)];
        String last = LAST_NAMES[random.nextInt(LAST_NAMES.length)];
        Object[] article = ARTICLES[random.nextInt(ARTICLES.length)];
        int quantity = random.nextInt(10) < 7 ? 1 : 2 + random.nextInt(3);
        int cents = (int) article[1] * quantity;
        int window = WINDOW_HOURS[random.nextInt(WINDOW_HOURS.length)];
        orders.append(String.format(
                Locale.ROOT,
                "{\"id\":\"%s\",\"customer\":\"%s %s\",\"email\":\"%s.%s@example.com\",\"article\":\"%s\",\"quantity\":%d,"
                        + "\"amount\":%d.%02d,\"currency\":\"EUR\",\"paymentWindow\":\"%dh\"%s}\n",
                id,
                first,
                last,
                first.toLowerCase(Locale.ROOT),
                last.toLowerCase(Locale.ROOT),
                article[0],
                quantity,
                cents / 100,
                cents % 100,
                window,
                partner(number)));
        int customer = random.nextInt(100);
        if (customer < 67) {
            // In time even if the order is taken an hour after its customer began to wait.
            pays(id, 90 + random.nextInt(window * 60 - 210));
        } else if (customer < 69) {
            pays(id, window * 60 + 90 + random.nextInt(60));
        }
    }

    private void pays(String id, int minutes) {
        payments.append(String.format(
                Locale.ROOT, "{\"order\":\"%s\",\"after\":\"%dh%dm\"}\n", id, minutes / 60, minutes % 60));
    }

    /** Orders of the partner that is out of order come early: the last try is a day after the end of the order. */
    private static String partner(int number) {
        if (number >= ORDERS_WITH_PARTNERS || number % 50 != 20) {
            return "";
        }
        String url = number < ORDERS_OF_THE_WAREHOUSE ? PartnerRoutes.warehouse(8080) : PartnerRoutes.url(8080);
        return ",\"notifyUrl\":\"" + url.replace("8080", DataSet.HTTP_PORT) + "\"";
    }
}
