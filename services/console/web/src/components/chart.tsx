/** Lines over time on a canvas. The numbers are also there as a table for those who cannot see the lines. */
import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import { formatTime } from './format.ts';

export interface Series {
  label: string;
  /** A CSS colour. */
  color: string;
  values: readonly (number | null)[];
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
        cursor: { points: { size: 6 } },
        legend: { live: true },
        axes: [axis, { ...axis, size: 56, values: (_plot, values) => values.map((value) => format(value)) }],
        series: [
          { value: (_plot, value) => (value === null ? '' : formatTime(value * 1000)) },
          ...series.map(({ label, color }) => ({
            label,
            stroke: color,
            fill: `${color}22`,
            width: 1.5,
            value: (_plot: UPlot, value: number | null) => (value === null ? '–' : format(value)),
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
