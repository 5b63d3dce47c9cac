/** The metrics of several processes as one page, each series labelled with its process. */

interface Family {
  /** `# HELP` and `# TYPE`, once. */
  head: string[];
  series: string[];
}

/** `pages`: Prometheus' text by process. Every family stands together, as the format wants it. */
export function mergeMetrics(pages: ReadonlyMap<string, string>): string {
  const families = new Map<string, Family>();
  for (const [process, text] of pages) {
    let family: Family = { head: [], series: [] };
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const [, name] = /^# (?:HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (name === undefined) {
        if (!line.startsWith('#')) family.series.push(labelled(line, process));
        continue;
      }
      family = families.get(name) ?? { head: [], series: [] };
      families.set(name, family);
      if (!family.head.some((one) => one.slice(0, 7) === line.slice(0, 7))) family.head.push(line);
    }
  }
  return `${[...families.values()].flatMap(({ head, series }) => [...head, ...series]).join('\n')}\n`;
}

/** `name{a="b"} 1` and `name 1`. */
function labelled(line: string, process: string): string {
  const at = line.search(/[{ ]/);
  const label = `process="${process}"`;
  if (line[at] !== '{') return `${line.slice(0, at)}{${label}}${line.slice(at)}`;
  return `${line.slice(0, at + 1)}${label}${line[at + 1] === '}' ? '' : ','}${line.slice(at + 1)}`;
}
