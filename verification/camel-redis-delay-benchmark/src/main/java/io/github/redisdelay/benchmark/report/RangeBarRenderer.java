// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.geom.Line2D;
import java.awt.geom.Rectangle2D;
import org.jfree.chart.axis.CategoryAxis;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.labels.CategoryItemLabelGenerator;
import org.jfree.chart.plot.CategoryPlot;
import org.jfree.chart.renderer.category.BarRenderer;
import org.jfree.chart.renderer.category.CategoryItemRendererState;
import org.jfree.data.category.CategoryDataset;

/** Bars as high as the median, each with a thin line from the smallest to the largest value. */
final class RangeBarRenderer extends BarRenderer {

    private static final long serialVersionUID = 1L;

    private final transient CategoryDataset smallest;
    private final transient CategoryDataset largest;

    /** The place of the bar that is being drawn. Drawing has one thread. */
    private transient Rectangle2D area;

    /** @param smallest and {@code largest} have the rows and columns of the dataset that is drawn */
    RangeBarRenderer(CategoryDataset smallest, CategoryDataset largest) {
        this.smallest = smallest;
        this.largest = largest;
    }

    @Override
    public void drawItem(
            Graphics2D graphics,
            CategoryItemRendererState state,
            Rectangle2D area,
            CategoryPlot plot,
            CategoryAxis domainAxis,
            ValueAxis rangeAxis,
            CategoryDataset dataset,
            int row,
            int column,
            int pass) {
        this.area = area;
        super.drawItem(graphics, state, area, plot, domainAxis, rangeAxis, dataset, row, column, pass);
        Number low = smallest.getValue(row, column);
        Number high = largest.getValue(row, column);
        if (low == null || high == null || low.doubleValue() == high.doubleValue()) {
            return;
        }
        int visibleRow = state.getVisibleSeriesIndex(row);
        double x = calculateBarW0(plot, plot.getOrientation(), area, domainAxis, state, visibleRow, column)
                + state.getBarWidth() / 2;
        double bottom = rangeAxis.valueToJava2D(low.doubleValue(), area, plot.getRangeAxisEdge());
        double top = rangeAxis.valueToJava2D(high.doubleValue(), area, plot.getRangeAxisEdge());
        graphics.setPaint(Color.DARK_GRAY);
        graphics.setStroke(new BasicStroke(1.5f));
        graphics.draw(new Line2D.Double(x, bottom, x, top));
        graphics.draw(new Line2D.Double(x - 3, bottom, x + 3, bottom));
        graphics.draw(new Line2D.Double(x - 3, top, x + 3, top));
    }

    /** Above the thin line. */
    @Override
    protected void drawItemLabel(
            Graphics2D graphics,
            CategoryDataset data,
            int row,
            int column,
            CategoryPlot plot,
            CategoryItemLabelGenerator generator,
            Rectangle2D bar,
            boolean negative) {
        double top = plot.getRangeAxis()
                .valueToJava2D(largest.getValue(row, column).doubleValue(), area, plot.getRangeAxisEdge());
        Rectangle2D whole = new Rectangle2D.Double(bar.getX(), top, bar.getWidth(), bar.getMaxY() - top);
        super.drawItemLabel(graphics, data, row, column, plot, generator, whole, negative);
    }
}
