import { memo, useEffect, useId, useRef, useState } from "react";
import type uPlot from "uplot";

export interface Series {
  label: string;
  /** A variable of the style sheet, such as `--accent`. */
  color: string;
  values: readonly (number | null)[];
  /** Distinguishes a line from another one of its color. */
  isDashed?: boolean;
}

export interface ChartProps {
  /** The chart's subject, for screen readers. */
  label: string;
  /** A label for each place on the horizontal axis. */
  places: readonly string[];
  series: readonly Series[];
  /** Bars whose parts are sums, or lines with gaps where there is no value. */
  kind: "bars" | "lines";
  /** How a value is shown. */
  format: (value: number) => string;
}

const HEIGHT = 220;

/** A chart with its legend; its data are also a table for screen readers. It is drawn again when a prop changes. */
export const Chart = memo(function Chart(props: ChartProps) {
  const { label, places, series, kind, format } = props;
  const host = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const id = useId();
  const theme = useThemeCount();
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    let plot: uPlot | null = null;
    let gone = false;
    const watcher = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT }));
    void import("uplot").then(({ default: Plot }) => {
      if (gone) return;
      plot = new Plot(optionsOf(props, Plot, element, setAt), dataOf(props), element);
      watcher.observe(element);
    });
    return () => {
      gone = true;
      watcher.disconnect();
      plot?.destroy();
    };
    // The canvas has the theme's colors.
  }, [props, theme]);
  const shown = at ?? places.length - 1;
  return (
    <figure aria-labelledby={id} className="flex min-w-0 flex-col gap-3">
      <figcaption id={id} className="sr-only">
        {label}
      </figcaption>
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-xs" aria-hidden>
        <span className="min-w-11 font-medium">{places[shown]}</span>
        {series.map(({ label: name, color, values, isDashed }) => (
          <span key={name} className="flex items-center gap-1">
            {kind === "bars" ? (
              <span className="size-2.5 rounded-sm" style={{ background: `var(${color})` }} />
            ) : (
              <span className="h-0.5 w-[11px]" style={{ background: isDashed ? dashes(color) : `var(${color})` }} />
            )}
            <span className="text-muted">{name}</span>
            <span className="font-medium tabular-nums">{told(values[shown], format)}</span>
          </span>
        ))}
      </div>
      <div ref={host} className="min-w-0" style={{ height: HEIGHT }} aria-hidden />
      <table className="sr-only">
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {series.map(({ label: name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {places.map((place, row) => (
            <tr key={place}>
              <th scope="row">{place}</th>
              {series.map(({ label: name, values }) => (
                <td key={name}>{told(values[row], format)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
});

/** A line as the legend shows it. */
function dashes(color: string): string {
  return `repeating-linear-gradient(90deg, var(${color}) 0 4px, transparent 4px 7px)`;
}

function told(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "–" : format(value);
}

/** Each bar is drawn from the axis: the sums first, so that the smaller ones lie on top. */
function dataOf({ places, series, kind }: ChartProps): uPlot.AlignedData {
  const indexes = places.map((_, at) => at);
  if (kind === "lines") return [indexes, ...series.map(({ values }) => [...values])];
  const sums = series.map((_, last) =>
    places.map((__, at) => series.slice(0, last + 1).reduce((sum, { values }) => sum + (values[at] ?? 0), 0)),
  );
  return [indexes, ...sums.reverse()];
}

function optionsOf(
  { places, series, kind, format }: ChartProps,
  Plot: typeof uPlot,
  host: HTMLElement,
  onPlace: (at: number | null) => void,
): uPlot.Options {
  const style = getComputedStyle(host);
  const resolved = (name: string) => resolve(host, `var(${name})`);
  const font = `12px ${style.fontFamily}`;
  const drawn = kind === "bars" ? [...series].reverse() : series;
  const bars = Plot.paths.bars?.({ size: [0.7, 28], radius: 0.15 });
  const axis = { stroke: resolved("--muted"), font, ticks: { show: false } };
  return {
    width: host.clientWidth,
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: kind === "lines" }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.5, places.length - 0.5] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max ?? 1) * 1.08] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        space: 72,
        incrs: [1, 2, 5, 7, 14, 30, 60, 90],
        values: (_plot, splits) => splits.map((at) => places[at] ?? ""),
      },
      {
        ...axis,
        grid: { stroke: resolved("--line"), width: 1 },
        // Room for the longest label: seven pixels a character.
        size: (_plot, labels) => Math.max(52, 14 + 7 * Math.max(0, ...(labels ?? []).map((label) => label.length))),
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500]
          .flatMap((step) => [step, step * 1_000, step * 1_000_000, step * 1_000_000_000])
          .sort((a, b) => a - b),
        values: (_plot, splits) => splits.map(format),
      },
    ],
    series: [
      {},
      ...drawn.map(({ label, color: name, isDashed }) => ({
        label,
        stroke: resolved(name),
        width: kind === "bars" ? 0 : 2,
        ...(isDashed && { dash: [4, 4] }),
        points: { show: kind === "lines" && hasLonelyPoints(series), size: 5, fill: resolved("--raised") },
        ...(kind === "bars" && bars && { fill: resolved(name), paths: bars }),
      })),
    ],
    hooks: { setCursor: [({ cursor }) => onPlace(cursor.idx ?? null)] },
  };
}

/** A value between two gaps has no line, and is seen only as a point. */
function hasLonelyPoints(series: readonly Series[]): boolean {
  const isGap = (value: number | null | undefined) => value === null || value === undefined;
  return series.some(({ values }) =>
    values.some((value, at) => !isGap(value) && isGap(values[at - 1]) && isGap(values[at + 1])),
  );
}

/** A canvas knows no variables and no `light-dark()`. */
function resolve(host: HTMLElement, written: string): string {
  const probe = document.createElement("span");
  probe.style.color = written;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Changes with the theme. */
function useThemeCount(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const changed = () => setCount((before) => before + 1);
    const watcher = new MutationObserver(changed);
    watcher.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const media = window.matchMedia("(prefers-color-scheme: dark)");
    media.addEventListener("change", changed);
    return () => {
      watcher.disconnect();
      media.removeEventListener("change", changed);
    };
  }, []);
  return count;
}
