/** The nesting depth of a YAML text, computed from its characters before parsing, since the parser's time and memory grow with the depth. */

/** At the end of a line without its comment. */
const scalarHeader = /(?:^|[\s:])[|>][+-]?\d?[+-]?[ \t]*$/;
const comment = /(?:^|[ \t])#.*$/;
/** A key on one line, quoted or plain, and what may precede a value: an anchor, a tag. */
const beforeValue = /^(?:(?:"(?:[^"\\]|\\.){0,200}"|'[^']{0,200}'|[^\s#"'[\]{},][^#[\]{}"']{0,200}?)[ \t]*:(?=\s))?[ \t]*(?:[&!][^\s,[\]{}]{0,200}[ \t]+)*/;

/**
 * The deepest of it all, an estimate that errs on the side of more: indentation, `- - -` and `? ? ?` in one line, and brackets of flows. Texts of
 * several lines (`|`, `>`) are left out, so that brackets in a script mean nothing.
 */
export function yamlDepth(text: string): number {
  let deepest = 0;
  let flow = 0;
  /** Indentations of the blocks that are open. */
  const blocks: number[] = [];
  /** Indentation below which a text of several lines ends; -1: there is none. */
  let literal = -1;
  for (let start = 0; start <= text.length; ) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    const line = text.slice(start, text[end - 1] === '\r' && end > start ? end - 1 : end);
    start = end + 1;
    let at = 0;
    if (flow === 0) {
      while (line[at] === ' ') at++;
      if (at === line.length) continue;
      if (literal >= 0 && at > literal) continue;
      literal = -1;
      while (blocks.length > 0 && blocks.at(-1)! >= at) blocks.pop();
      blocks.push(at);
      while ((line[at] === '-' || line[at] === '?' || line[at] === ':') && (line[at + 1] === ' ' || line[at + 1] === '\t')) {
        at += 2;
        while (line[at] === ' ' || line[at] === '\t') at++;
        blocks.push(at);
      }
      deepest = Math.max(deepest, blocks.length);
      if (scalarHeader.test(line.slice(-200).replace(comment, ''))) literal = line.length - line.trimStart().length;
      at += beforeValue.exec(line.slice(at, at + 1024))?.[0].length ?? 0;
      if (line[at] !== '[' && line[at] !== '{') continue;
    }
    ({ flow, deepest } = scanFlow(line, { at, flow, deepest, base: blocks.length }));
  }
  return deepest;
}

interface Scan {
  at: number;
  flow: number;
  deepest: number;
  /** Of the blocks around it. */
  base: number;
}

/** Brackets outside of quotes and comments, until the flow closes or the line ends. */
function scanFlow(line: string, { at, flow, deepest, base }: Scan): Pick<Scan, 'flow' | 'deepest'> {
  let open = flow;
  let max = deepest;
  for (let index = at; index < line.length; index++) {
    const char = line[index];
    if (char === '[' || char === '{') {
      open++;
      max = Math.max(max, base + open);
    } else if (char === ']' || char === '}') {
      open--;
      if (open <= 0) return { flow: 0, deepest: max };
    } else if ((char === '"' || char === "'") && /[\s,:[{]/.test(line[index - 1] ?? ' ')) {
      const close = closingQuote(line, index);
      if (close > 0) index = close;
    } else if (char === '#' && /\s/.test(line[index - 1] ?? ' ')) break;
  }
  return { flow: open, deepest: max };
}

/** Position of the quote that ends the text, 0 when it does not end in this line. */
function closingQuote(line: string, start: number): number {
  const quote = line[start];
  for (let index = start + 1; index < line.length; index++) {
    if (line[index] === '\\' && quote === '"') index++;
    else if (line[index] === quote) {
      if (quote === "'" && line[index + 1] === "'") index++;
      else return index;
    }
  }
  return 0;
}
