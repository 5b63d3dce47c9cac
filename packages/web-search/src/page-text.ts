/** Pages as text. */
import { compile } from 'html-to-text';

const toText = compile({
  wordwrap: false,
  limits: { maxInputLength: 16 * 1024 * 1024, maxDepth: 200, maxChildNodes: 20_000 },
  selectors: [
    { selector: 'a', options: { ignoreHref: true } },
    ...['title', 'img', 'script', 'style', 'noscript', 'template', 'svg', 'iframe', 'nav', 'footer', 'form'].map((selector) => ({ selector, format: 'skip' })),
  ],
});

/** HTML as text; what has no tags and no entities stays as it is. */
export const toPlainText = (html: string): string => (/[<&]/.test(html) ? toText(html) : html);

const named = (entities: string): string => toPlainText(entities).replace(/\s+/g, ' ').trim();

export const titleOf = (html: string): string => named(/<title\b[^>]{0,200}>([^<]{0,500})/i.exec(html.slice(0, 65_536))?.[1] ?? '').slice(0, 300);

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
