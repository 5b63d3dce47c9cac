/**
 * Comments, declared names and documents use the terms of the field (`docs/glossary.md`). The code was once written in words of its own (a "door" was an adapter,
 * a "proof" a signature), which nobody could search for; this test keeps them from coming back.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';

const root = join(import.meta.dirname, '../..');

/** Words of the former dialect. Common English uses of some ("tell apart", "no room for", "proof of possession") are allowed. */
const idiom =
  /\b(told(?! apart)|tells? (?:of|it|them|the|us|whom|when|where|how|who)\b(?![^.;]*\bapart\b)|stands? (?:in\b(?! for)|for itself|there|beside|where|still|before|beneath)|whoever|who (?:leaves|comes|asks|lingers|hears)|heard|hears?|(?<!\b(?:no|enough|more|for) )rooms?|doors?|(?<!PKCE |DPoP )proofs?(?! key| of possession)|from its hand|goes along|sent on|comes? to nothing|in vain)\b/i;
/** Names of declarations that have a term in the glossary instead. */
const oldName =
  /^(?:\w*(?:Rooms?|Doors?|Proofs?|Purse|Patience|Desk|Rostered|Roster|Cohort|Teller|Anatomy)(?![a-z])\w*|(?:rooms?|doors?|proofs?|purse|patience|roster|cohort|hears?|heard|tells?|told|mend|farewell|most|longest|least)(?:[A-Z]\w*)?)$/;

/** "x is no number" for "x is not a number". Reasons of losses are stored in rows and found again by their text, so theirs stay. */
const isNoSomething = /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|such\b|one\b)/i;
const lossReasons = readFileSync(join(root, 'packages/contracts/data/loss-reasons.json'), 'utf8').toLowerCase();

/** How many are left. These bounds only go down: lower them when you rewrite one. */
const maxComments = 0;
const maxNames = 0;
const generatedDocs = ['docs/configuration.md', 'docs/gateway-file.md', 'docs/losses.md', 'docs/compatibility.md'];

const tracked = execFileSync('git', ['-C', root, 'ls-files'], { encoding: 'utf8', maxBuffer: 1e8 }).split('\n');
const sources = tracked.filter(
  (file) =>
    /^(?:packages|services|deploy)\/.*\.(?:ts|tsx|mts|mjs)$/.test(file) && !/\.(?:d|gen|test)\.tsx?$|(?:^|\/)(?:test|tests|fixtures|bench)\//.test(file),
);

/** Comments in the dialect, declarations under old names, and texts in odd English, as `file:line`. */
function violations(file: string): { comments: string[]; names: string[]; texts: string[] } {
  const text = readFileSync(join(root, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  const where = (position: number): string => `${file}:${source.getLineAndCharacterOfPosition(position).line + 1}`;
  const comments = new Set<string>();
  const names: string[] = [];
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of [...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []), ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? [])])
      if (idiom.test(text.slice(pos, end))) comments.add(where(pos));
    if ((ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) && isNoSomething.test(node.text)) {
      if (!lossReasons.includes(node.text.toLowerCase().replace(/\.$/, ''))) texts.push(`${where(node.getStart(source))} ${node.text}`);
    }
    const { name } = node as ts.NamedDeclaration;
    if (name && ts.isIdentifier(name) && !ts.isPropertyAccessExpression(node) && !ts.isImportSpecifier(node) && oldName.test(name.text))
      names.push(`${where(node.getStart(source))} ${name.text}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { comments: [...comments], names, texts };
}

const found = sources.map(violations);

test('comments of source files use the terms of the field', () => {
  const all = found.flatMap(({ comments }) => comments);
  expect({ tooMany: all.length > maxComments ? all : [] }).toEqual({ tooMany: [] });
});

test('declared names are those of the glossary', () => {
  const all = found.flatMap(({ names }) => names);
  expect({ tooMany: all.length > maxNames ? all : [] }).toEqual({ tooMany: [] });
});

test('texts for callers, operators and logs say "is not a …"', () => {
  expect(found.flatMap(({ texts }) => texts)).toEqual([]);
});

test.each(tracked.filter((file) => /^docs\/[^/]+\.md$/.test(file) && !generatedDocs.includes(file)))('%s is free of the old words', (file) => {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  expect(lines.flatMap((line, at) => (idiom.test(line) ? [`${file}:${at + 1} ${line}`] : []))).toEqual([]);
});
