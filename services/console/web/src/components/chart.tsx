/** Lines or stacked bars over time on a canvas: dragging over it zooms, a click leads to what lies behind a point; both also by the keyboard. The numbers are also there as a table for those who cannot see it. */
import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme, VisuallyHidden } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react';
import type UPlot from 'uplot';
import { type DrawnChart, drawChart, type Mark, nonEmptySteps, type Series } from './draw-chart.ts';
import { formatTime } from './format.ts';

export type { Mark, Series } from './draw-chart.ts';

/** A part of the time axis, ms since the epoch. */
export interface Stretch {
  from: number;
  to: number;
}

interface Props {
  /** Milliseconds since the epoch, ascending. */
  times: readonly number[];
  series: readonly Series[];
  /** Bars on top of one another instead of lines. */
  stacked?: boolean;
  height?: number;
  format?: (value: number) => string;
  caption: string;
  /** Where the legend goes: into the head of the card. */
  legend?: RefObject<HTMLElement | null>;
  marks?: readonly Mark[];
  /** Length of a step, in ms. */
  stepMs?: number;
  /** A stretch was drawn over. */
  onZoom?: (stretch: Stretch) => void;
  /** A point was chosen: its step. */
  onPoint?: (stretch: Stretch) => void;
}

const noMarks: readonly Mark[] = [];

export function Chart({ times, series, stacked = false, height = 180, format = String, caption, legend, marks = noMarks, stepMs = 0, onZoom, onPoint }: Props) {
  const { ref, width } = useElementSize();
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(null);
  /** Drawing anew for a new function would lose what is pointed at. */
  const listeners = useRef<Pick<DrawnChart, 'onZoom' | 'onPoint'>>({});
  listeners.current = {
    ...(onZoom && { onZoom: (from: number, to: number) => onZoom({ from, to: to + stepMs }) }),
    ...(onPoint && { onPoint: (at: number) => onPoint({ from: at, to: at + stepMs }) }),
  };
  const dark = useComputedColorScheme() === 'dark';
  useEffect(() => {
    if (!host.current || width < 40) return;
    const drawn = drawChart({
      host: host.current,
      legend: legend?.current ?? null,
      width,
      height,
      dark,
      times,
      series,
      stacked,
      format,
      marks,
      stepMs,
      listeners,
    });
    plot.current = drawn;
    return () => {
      plot.current = null;
      drawn.destroy();
    };
  }, [times, series, stacked, width, height, dark, format, legend, marks, stepMs]);

  const onKeyDown = (event: KeyboardEvent) => {
    const drawn = plot.current;
    if (!drawn || !onPoint) return;
    const at = drawn.cursor.idx ?? null;
    const next = { ArrowRight: (at ?? -1) + 1, ArrowLeft: (at ?? times.length) - 1, Home: 0, End: times.length - 1 }[event.key];
    if (next !== undefined && next >= 0 && next < times.length) {
      event.preventDefault();
      drawn.setCursor({ left: drawn.valToPos((times[next] ?? 0) / 1000, 'x'), top: 8 });
    } else if (event.key === 'Enter' && at !== null) {
      event.preventDefault();
      listeners.current.onPoint?.(times[at] ?? 0);
    }
  };
  return (
    <figure style={{ margin: 0 }}>
      <div ref={ref} role="img" aria-label={caption} {...(onPoint && { tabIndex: 0, onKeyDown, style: { cursor: 'pointer' } })}>
        <div ref={host} style={{ minHeight: height }} />
      </div>
      <ChartTable times={times} series={series} caption={caption} format={format} />
    </figure>
  );
}

/** Steps in which there was anything; nobody reads more. */
const maxRead = 100;

function ChartTable({
  times,
  series,
  caption,
  format,
}: {
  times: readonly number[];
  series: readonly Series[];
  caption: string;
  format: (value: number) => string;
}) {
  const rows = nonEmptySteps(times, series).slice(-maxRead);
  return (
    <VisuallyHidden>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <td />
            {series.map(({ label }) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ time, values }) => (
            <tr key={time}>
              <th scope="row">{formatTime(time)}</th>
              {series.map(({ label, format: own = format }, at) => (
                <td key={label}>{values[at] === null || values[at] === undefined ? '–' : own(values[at])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </VisuallyHidden>
  );
}
