/** Lines over time on a canvas. The numbers are also there as a table for those who cannot see the lines. */
import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import { formatAxisTime, formatTime } from './format.ts';

/** One line of a chart. */
export interface Series {
  label: string;
  /** A CSS colour. */
  color: string;
  values: readonly (number | null)[];
  /** Where it is not the chart's. */
  format?: (value: number) => string;
}

interface Props {
  /** Milliseconds since the epoch, ascending. */
  times: readonly number[];
  series: readonly Series[];
  height?: number;
  format?: (value: number) => string;
  caption: string;
}

export function Chart({ times, series, height = 180, format = String, caption }: Props) {
  const { ref, width } = useElementSize();
  const host = useRef<HTMLDivElement>(null);
  const dark = useComputedColorScheme() === 'dark';
  useEffect(() => {
    if (!host.current || width < 40) return;
    // Without a time that is pointed at, a legend's value has no index.
    const shown = (write: (value: number) => string) => (_plot: UPlot, value: number | null, _series: number, index: number | null) =>
      index === null ? '' : value === null ? '–' : write(value);
    const axis = {
      stroke: dark ? '#a6a7ab' : '#5c5f66',
      grid: { stroke: dark ? '#2c2e33' : '#e9ecef', width: 1 },
      ticks: { show: false },
      font: '11px system-ui',
    };
    const plot = new UPlot(
      {
        width,
        height,
        cursor: { points: { size: 6 }, focus: { prox: 24 } },
        legend: { live: true },
        axes: [
          { ...axis, space: 64, values: (...[, splits, , , step]) => splits.map((split) => formatAxisTime(split * 1000, step)) },
          { ...axis, size: 56, values: (_plot, values) => values.map((value) => format(value)) },
        ],
        series: [
          { label: '', value: shown((value) => formatTime(value * 1000)) },
          ...series.map(({ label, color, format: own = format }) => ({
            label,
            stroke: color,
            fill: `${color}22`,
            width: 1.5,
            points: { size: 4 },
            value: shown(own),
          })),
        ],
      },
      [times.map((time) => time / 1000), ...series.map(({ values }) => [...values])],
      host.current,
    );
    return () => plot.destroy();
  }, [times, series, width, height, dark, format]);
  return (
    <div ref={ref} role="img" aria-label={caption}>
      <div ref={host} style={{ minHeight: height }} />
    </div>
  );
}
