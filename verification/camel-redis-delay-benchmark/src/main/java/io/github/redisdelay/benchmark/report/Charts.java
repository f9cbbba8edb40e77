// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.report;

import io.github.redisdelay.benchmark.Subject;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.geom.Ellipse2D;
import java.io.IOException;
import java.nio.file.Path;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.text.FieldPosition;
import java.text.NumberFormat;
import java.text.ParsePosition;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jfree.chart.ChartUtils;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.CategoryAxis;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.NumberTickUnit;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.block.BlockBorder;
import org.jfree.chart.labels.ItemLabelAnchor;
import org.jfree.chart.labels.ItemLabelPosition;
import org.jfree.chart.labels.StandardCategoryItemLabelGenerator;
import org.jfree.chart.plot.CategoryPlot;
import org.jfree.chart.plot.ValueMarker;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.category.StandardBarPainter;
import org.jfree.chart.renderer.xy.XYErrorRenderer;
import org.jfree.chart.title.TextTitle;
import org.jfree.chart.ui.Layer;
import org.jfree.chart.ui.RectangleAnchor;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.category.DefaultCategoryDataset;
import org.jfree.data.xy.XYIntervalSeries;
import org.jfree.data.xy.XYIntervalSeriesCollection;

/** Draws medians with their spread: as bars side by side, or as lines over a number. */
final class Charts {

    private static final int WIDTH = 1000;
    private static final int HEIGHT = 520;
    private static final Font FONT = new Font(Font.SANS_SERIF, Font.PLAIN, 14);
    private static final Font SMALL = FONT.deriveFont(12f);
    private static final Font BOLD = FONT.deriveFont(Font.BOLD, 18f);
    private static final Color GRID = new Color(0xB8B8B8);
    private static final Color FINE_GRID = new Color(0xECECEC);

    /** A subject has the same colour everywhere. */
    private static final Map<String, Color> COLOURS = Map.of(
            Subject.CAMEL, new Color(0x1F6FB4),
            Subject.QUEUE, new Color(0x35A06A),
            Subject.RDELAYEDQUEUE, new Color(0xD1495B),
            Subject.FLOOR, new Color(0x8A8A8A),
            Subject.FENCED_FLOOR, new Color(0xC2A14D),
            Subject.BULLMQ, new Color(0x8E5EA2),
            Subject.BEANSTALKD, new Color(0x4A4A4A));

    private static final List<Color> OTHERS = List.of(
            new Color(0x1F6FB4),
            new Color(0xE08E1A),
            new Color(0x35A06A),
            new Color(0xD1495B),
            new Color(0x7A5BA8),
            new Color(0x8A8A8A));

    private Charts() {}

    /**
     * A drawing.
     *
     * @param title above it
     * @param valueTitle beside the axis of the values, with their unit
     * @param logarithmic whether ten times as much is always the same distance
     * @param limit a line to be met, or NaN
     */
    record Look(String title, String valueTitle, boolean logarithmic, double limit) {}

    /** One value of a drawing. The group is where it stands, the series which colour it has. */
    record Point(String series, String group, Spread spread) {}

    /** Draws a bar for each point, those of a group side by side. */
    static void bars(Path file, Look look, List<Point> all) throws IOException {
        // Nothing is no number of times smaller than anything.
        List<Point> points = all.stream()
                .filter(point -> !look.logarithmic() || point.spread().median() > 0)
                .toList();
        ValueAxis values = valueAxis(look, points);
        DefaultCategoryDataset medians = new DefaultCategoryDataset();
        DefaultCategoryDataset smallest = new DefaultCategoryDataset();
        DefaultCategoryDataset largest = new DefaultCategoryDataset();
        for (Point point : points) {
            String series = Tables.subject(point.series());
            medians.addValue(point.spread().median(), series, point.group());
            smallest.addValue(Math.max(point.spread().min(), values.getLowerBound()), series, point.group());
            largest.addValue(point.spread().max(), series, point.group());
        }
        CategoryAxis groups = new CategoryAxis();
        groups.setMaximumCategoryLabelLines(3);
        groups.setCategoryMargin(0.25);
        groups.setLowerMargin(0.02);
        groups.setUpperMargin(0.02);
        groups.setTickLabelFont(FONT);
        RangeBarRenderer bars = new RangeBarRenderer(smallest, largest);
        bars.setBarPainter(new StandardBarPainter());
        bars.setShadowVisible(false);
        bars.setItemMargin(0.04);
        bars.setMaximumBarWidth(0.12);
        bars.setBase(look.logarithmic() ? values.getLowerBound() : 0);
        bars.setDefaultItemLabelGenerator(new StandardCategoryItemLabelGenerator("{2}", new ReadableFormat()));
        bars.setDefaultItemLabelsVisible(true);
        bars.setDefaultItemLabelFont(SMALL);
        bars.setDefaultPositiveItemLabelPosition(
                new ItemLabelPosition(ItemLabelAnchor.OUTSIDE12, TextAnchor.BOTTOM_CENTER));
        List<String> series = points.stream().map(Point::series).distinct().toList();
        for (int i = 0; i < series.size(); i++) {
            bars.setSeriesPaint(i, colour(series.get(i), i));
        }
        CategoryPlot plot = new CategoryPlot(medians, groups, values, bars);
        plot.setRangeGridlinePaint(GRID);
        plot.setRangeMinorGridlinesVisible(look.logarithmic());
        plot.setRangeMinorGridlinePaint(FINE_GRID);
        plot.setBackgroundPaint(Color.WHITE);
        plot.setOutlineVisible(false);
        if (!Double.isNaN(look.limit())) {
            plot.addRangeMarker(limit(look.limit()), Layer.FOREGROUND);
        }
        write(file, new JFreeChart(look.title(), BOLD, plot, series.size() > 1));
    }

    /**
     * Draws a line for each series over the numbers of its groups; both axes are logarithmic where the look says so.
     *
     * @param numberTitle below the axis of the numbers
     * @param number the number of a point
     */
    static void lines(Path file, Look look, String numberTitle, ToDoubleFunction<Point> number, List<Point> points)
            throws IOException {
        XYIntervalSeriesCollection dataset = new XYIntervalSeriesCollection();
        List<String> series = points.stream().map(Point::series).distinct().toList();
        XYErrorRenderer lines = new XYErrorRenderer();
        lines.setDefaultLinesVisible(true);
        lines.setDrawXError(false);
        lines.setErrorStroke(new BasicStroke(1.2f));
        for (int i = 0; i < series.size(); i++) {
            String name = series.get(i);
            XYIntervalSeries line = new XYIntervalSeries(Tables.subject(name));
            points.stream().filter(point -> point.series().equals(name)).forEach(point -> {
                double x = number.applyAsDouble(point);
                Spread spread = point.spread();
                line.add(x, x, x, spread.median(), spread.min(), spread.max());
            });
            dataset.addSeries(line);
            lines.setSeriesPaint(i, colour(name, i));
            lines.setSeriesStroke(i, new BasicStroke(2.5f));
            lines.setSeriesShape(i, new Ellipse2D.Double(-4, -4, 8, 8));
        }
        LogAxis numbers = new LogAxis(numberTitle);
        numbers.setNumberFormatOverride(new ReadableFormat());
        numbers.setTickUnit(new NumberTickUnit(1)); // powers of ten
        numbers.setMinorTickCount(10);
        numbers.setTickLabelFont(FONT);
        numbers.setLabelFont(FONT);
        XYPlot plot = new XYPlot(dataset, numbers, valueAxis(look, points), lines);
        plot.setRangeGridlinePaint(GRID);
        plot.setRangeMinorGridlinesVisible(look.logarithmic());
        plot.setRangeMinorGridlinePaint(FINE_GRID);
        plot.setDomainGridlinePaint(GRID);
        plot.setDomainMinorGridlinesVisible(true);
        plot.setDomainMinorGridlinePaint(FINE_GRID);
        plot.setBackgroundPaint(Color.WHITE);
        plot.setOutlineVisible(false);
        if (!Double.isNaN(look.limit())) {
            plot.addRangeMarker(limit(look.limit()), Layer.FOREGROUND);
        }
        write(file, new JFreeChart(look.title(), BOLD, plot, true));
    }

    private static ValueAxis valueAxis(Look look, List<Point> points) {
        double largest =
                points.stream().mapToDouble(p -> p.spread().max()).max().orElse(1);
        if (!Double.isNaN(look.limit())) {
            largest = Math.max(largest, look.limit());
        }
        NumberAxis linear = new NumberAxis(look.valueTitle());
        ValueAxis axis = linear;
        if (look.logarithmic()) {
            double smallest = points.stream()
                    .mapToDouble(p -> p.spread().min())
                    .filter(value -> value > 0)
                    .min()
                    .orElse(1);
            LogAxis logarithmic = new LogAxis(look.valueTitle());
            logarithmic.setNumberFormatOverride(new ReadableFormat());
            logarithmic.setRange(powerBelow(smallest), largest * 2);
            logarithmic.setTickUnit(new NumberTickUnit(1)); // powers of ten
            logarithmic.setMinorTickCount(10);
            axis = logarithmic;
        } else {
            linear.setNumberFormatOverride(new ReadableFormat());
            linear.setRange(0, largest > 0 ? largest * 1.12 : 1);
        }
        axis.setTickLabelFont(FONT);
        axis.setLabelFont(FONT);
        return axis;
    }

    /** The power of ten below a value, so that the shortest bar has a length. */
    private static double powerBelow(double value) {
        double power = Math.pow(10, Math.floor(Math.log10(value)));
        return power > value * 0.8 ? power / 10 : power;
    }

    private static ValueMarker limit(double value) {
        ValueMarker marker = new ValueMarker(value, Color.BLACK, new BasicStroke(1.4f, 0, 0, 1, new float[] {6, 4}, 0));
        marker.setLabel("target " + Numbers.text(value));
        marker.setLabelFont(SMALL);
        marker.setLabelAnchor(RectangleAnchor.TOP_LEFT);
        marker.setLabelTextAnchor(TextAnchor.BOTTOM_LEFT);
        return marker;
    }

    private static Color colour(String series, int number) {
        return COLOURS.getOrDefault(series, OTHERS.get(number % OTHERS.size()));
    }

    private static void write(Path file, JFreeChart chart) throws IOException {
        chart.setBackgroundPaint(Color.WHITE);
        TextTitle title = chart.getTitle();
        title.setPadding(8, 0, 8, 0);
        if (chart.getLegend() != null) {
            chart.getLegend().setItemFont(FONT);
            chart.getLegend().setFrame(BlockBorder.NONE);
        }
        ChartUtils.saveChartAsPNG(file.toFile(), chart, WIDTH, HEIGHT);
    }

    /** 12 000 as 12k, 2 500 000 as 2.5M, small numbers with three digits that count. */
    static final class ReadableFormat extends NumberFormat {

        private static final long serialVersionUID = 1L;
        private static final DecimalFormatSymbols SYMBOLS = DecimalFormatSymbols.getInstance(Locale.ROOT);

        @Override
        public StringBuffer format(double number, StringBuffer to, FieldPosition position) {
            double size = Math.abs(number);
            if (size >= 1e6) {
                return to.append(digits(number / 1e6)).append('M');
            }
            if (size >= 1e4) {
                return to.append(digits(number / 1e3)).append('k');
            }
            return to.append(digits(number));
        }

        private static String digits(double number) {
            double size = Math.abs(number);
            String pattern = size >= 100 ? "0" : size >= 10 ? "0.#" : size >= 0.1 ? "0.##" : "0.####";
            return new DecimalFormat(pattern, SYMBOLS).format(number);
        }

        @Override
        public StringBuffer format(long number, StringBuffer to, FieldPosition position) {
            return format((double) number, to, position);
        }

        @Override
        public Number parse(String text, ParsePosition position) {
            throw new UnsupportedOperationException("only for writing");
        }
    }
}
