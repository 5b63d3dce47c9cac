/** Draws a chart with uPlot. */
import UPlot from 'uplot';
import { formatAxisTime, formatTime } from './format.ts';

/** One line, or one part of each bar. */
export interface Series {
  label: string;
  /** A CSS colour. */
  color: string;
  values: readonly (number | null)[];
  /** Where it is not the chart's. */
  format?: (value: number) => string;
}

/** Something that happened, as a line across the chart. */
export interface Mark {
  /** Milliseconds since the epoch. */
  at: number;
  label: string;
}

/** What is drawn, and who listens to what is done to it. */
export interface DrawnChart {
  host: HTMLElement;
  legend: HTMLElement | null;
  width: number;
  height: number;
  dark: boolean;
  times: readonly number[];
  series: readonly Series[];
  stacked: boolean;
  format: (value: number) => string;
  marks: readonly Mark[];
  /** Length of a step, in ms. */
  stepMs: number;
  listeners: { current: Listeners };
  onZoom?: Listeners['onZoom'];
  onPoint?: Listeners['onPoint'];
}

interface Listeners {
  /** Of the steps at both ends, ms since the epoch. */
  onZoom?: (from: number, to: number) => void;
  onPoint?: (at: number) => void;
}

/** Shorter strokes are clicks. */
const minStroke = 8;

/** Each series with all below it. */
export function stackUp(series: readonly Series[]): number[][] {
  const sums: number[] = [];
  return series.map(({ values }) =>
    values.map((value, at) => {
      sums[at] = (sums[at] ?? 0) + (value ?? 0);
      return sums[at];
    }),
  );
}

/** The steps in which any series has a value other than zero. */
export const nonEmptySteps = (times: readonly number[], series: readonly Series[]): { time: number; values: (number | null)[] }[] =>
  times
    .map((time, at) => ({ time, values: series.map(({ values }) => values[at] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null && value !== 0));

/** How far apart the marks of the value axis may be: nobody makes a quarter of a request. */
export const stepsOf = (series: readonly Series[]): number[] | undefined =>
  series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)))
    ? Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat()
    : undefined;

export function drawChart({ host, legend, width, height, dark, times, series, stacked, format, marks, stepMs, listeners }: DrawnChart): UPlot {
  // The tallest is drawn first, so that each part shows below the next.
  const order = series.map((_, at) => at);
  if (stacked) order.reverse();
  const columns = stacked ? stackUp(series) : series.map(({ values }) => [...values]);
  const axis = {
    stroke: dark ? '#a6a7ab' : '#5c5f66',
    grid: { stroke: dark ? '#2c2e33' : '#e9ecef', width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  };
  // Without a time that is pointed at, a legend's value has no index.
  const shown = (at: number) => (_plot: UPlot, _value: number | null, _series: number, index: number | null) => {
    const one = series[at];
    if (index === null || !one) return '';
    const value = one.values[index];
    return value === null || value === undefined ? '–' : (one.format ?? format)(value);
  };
  const steps = stepsOf(series);
  const plot: UPlot = new UPlot(
    {
      width,
      height,
      cursor: { points: { size: 6 }, focus: { prox: 24 }, drag: { x: true, y: false, setScale: false } },
      legend: { live: true, ...(legend && { mount: (_plot: UPlot, table: HTMLElement) => void legend.appendChild(table) }) },
      axes: [
        { ...axis, size: 28, space: 64, values: (...[, splits, , , step]) => splits.map((split) => formatAxisTime(split * 1000, step)) },
        { ...axis, size: 56, ...(steps && { incrs: steps }), values: (_plot, values) => values.map((value) => format(value)) },
      ],
      scales: stacked
        ? {
            // The last bar ends where its step does.
            x: { range: [(times[0] ?? 0) / 1000, ((times.at(-1) ?? 0) + stepMs) / 1000] },
            y: { range: (_plot, _lowest, greatest) => [0, (greatest || 1) * 1.05] },
          }
        : {},
      series: [
        { label: '', value: (_plot, value: number | null) => (value === null ? '' : formatTime(value * 1000)) },
        ...order.map((at) => lineOf(series[at]!, stacked, shown(at))),
      ],
      hooks: {
        setSelect: [(drawn) => zoom(drawn, times, listeners.current)],
        draw: [(drawn) => drawMarks(drawn, marks, axis.stroke)],
      },
    },
    [times.map((time) => time / 1000), ...order.map((at) => columns[at] ?? [])],
    host,
  );
  plot.over.addEventListener('click', () => {
    const at = plot.cursor.idx;
    if (plot.select.width < minStroke && at !== null && at !== undefined) listeners.current.onPoint?.(times[at] ?? 0);
  });
  return plot;
}

/** Lines with more values are seen without points on them. */
const maxPoints = 24;

/** Whether so few steps have a value that a line alone would hardly be seen, or, of a single one, not at all. */
export const isSparse = (values: Series['values']): boolean => values.filter((value) => value !== null).length <= maxPoints;

const lineOf = ({ label, color, values }: Series, stacked: boolean, value: UPlot.Series.Value): UPlot.Series =>
  stacked
    ? {
        label,
        stroke: color,
        fill: color,
        width: 0,
        points: { show: false },
        value,
        ...(UPlot.paths.bars && { paths: UPlot.paths.bars({ size: [0.8, 60], align: 1 }) }),
      }
    : // A step without requests has no latency; the line goes on to the next that has.
      {
        label,
        stroke: color,
        fill: `${color}22`,
        width: 1.5,
        points: { size: 5, fill: color, ...(isSparse(values) && { show: true }) },
        spanGaps: true,
        value,
      };

function zoom(plot: UPlot, times: readonly number[], { onZoom }: Listeners): void {
  const { left, width } = plot.select;
  if (width < minStroke || !onZoom) return;
  const [from, to] = [plot.posToIdx(left), plot.posToIdx(left + width)];
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  onZoom(times[from] ?? 0, times[to] ?? 0);
}

function drawMarks(plot: UPlot, marks: readonly Mark[], color: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.font = `${10 * devicePixelRatio}px system-ui`;
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  let free = Number.NEGATIVE_INFINITY;
  for (const { at, label } of marks) {
    const x = plot.valToPos(at / 1000, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const { width } = ctx.measureText(label);
    const left = labelLeft({ x, width, gap: 3 * devicePixelRatio, end: bbox.left + bbox.width });
    // Those close to one another have one label.
    if (left < free) continue;
    // Above the bars, whose colours would hide it.
    ctx.fillText(label, left, bbox.top - 4 * devicePixelRatio);
    free = left + width + 5 * devicePixelRatio;
  }
  ctx.restore();
}

/** Where the label of a mark at `x` begins: right of it, but left of it where the chart ends too soon. All in pixels. */
export const labelLeft = ({ x, width, gap, end }: { x: number; width: number; gap: number; end: number }): number =>
  x + gap + width <= end ? x + gap : x - gap - width;
