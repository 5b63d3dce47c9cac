/** Pages as text. */
import { compile } from 'html-to-text';
import { Parser } from 'htmlparser2';

type ToText = (html: string) => string;

const compileToText = (): ToText =>
  compile({
    wordwrap: false,
    limits: { maxInputLength: 16 * 1024 * 1024, maxDepth: 200, maxChildNodes: 20_000 },
    selectors: [
      { selector: 'a', options: { ignoreHref: true } },
      ...['title', 'img', 'script', 'style', 'noscript', 'template', 'svg', 'iframe', 'nav', 'footer', 'form'].map((selector) => ({
        selector,
        format: 'skip',
      })),
    ],
  });

/** Made for the first page: most processes never read one. */
let compiled: ToText | undefined;

function toText(html: string): string {
  compiled ??= compileToText();
  return compiled(html);
}

/** Elements of a page that lie in one another: no real one comes near it, and the parser's time grows with the square of it. */
const maxDepth = 512;

/** Where a page goes deeper than that, as far as it is read. */
function depthEnd(html: string): number {
  let depth = 0;
  let end = html.length;
  const parser = new Parser({
    onopentag() {
      depth++;
      if (depth <= maxDepth) return;
      end = Math.min(end, parser.startIndex);
      parser.pause();
    },
    onclosetag() {
      depth--;
    },
  });
  parser.write(html);
  return end;
}

/** HTML as text; what has no tags and no entities stays as it is. `isCut`: the page is not read to its end. */
export function readHtml(html: string): { text: string; isCut: boolean } {
  if (!/[<&]/.test(html)) return { text: html, isCut: false };
  const end = depthEnd(html);
  return { text: toText(html.slice(0, end)), isCut: end < html.length };
}

export const toPlainText = (html: string): string => readHtml(html).text;

const named = (entities: string): string => toPlainText(entities).replace(/\s+/g, ' ').trim();

export const titleOf = (html: string): string => cutText(named(/<title\b[^>]{0,200}>([^<]{0,500})/i.exec(html.slice(0, 65_536))?.[1] ?? ''), 300);

/** By the header's charset, else by the page's own words; an unknown one is read as UTF-8. */
export function decode(bytes: Buffer, contentType: string): string {
  const said =
    /charset=["']?([\w.:-]{1,40})/i.exec(contentType)?.[1] ?? /<meta[^>]{0,100}charset=["']?([\w.:-]{1,40})/i.exec(bytes.toString('latin1', 0, 2048))?.[1];
  try {
    return new TextDecoder(said ?? 'utf-8').decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** What terminals obey and pages do not need: all control characters but line ends and tabs. */
const controls = /[^\P{Cc}\t\n\r]/gu;

/** As others wrote it, cut to a length. Without half a character, at its end or anywhere: upstreams refuse a whole request for one. */
export function cutText(text: string, length: number): string {
  const cut = text.slice(0, length);
  return (/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut).toWellFormed().replace(controls, '');
}
