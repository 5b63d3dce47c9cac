/** What documents and comments refer to is there: files by their path, pages by their link, headings by their anchor. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const tracked = execFileSync('git', ['-C', root, 'ls-files'], { encoding: 'utf8', maxBuffer: 1e8 }).split('\n');
const pages = tracked.filter((file) => file.endsWith('.md') && existsSync(join(root, file)));
const sources = tracked.filter(
  (file) => /\.(?:tsx?|mjs|sh|ya?ml|conf|toml)$|Dockerfile$/.test(file) && file !== 'pnpm-lock.yaml' && existsSync(join(root, file)),
);
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Files and folders by each end of their path that begins with a whole segment: documents leave out what is clear from the context. */
const known = new Set<string>();
for (const file of tracked) {
  for (let path = file; path !== '.'; path = posix.dirname(path)) {
    const segments = path.split('/');
    for (let at = 0; at < segments.length; at++) known.add(segments.slice(at).join('/'));
  }
}
const folderNames = 'packages|services|deploy|tests|scripts|docs|bench';
/** A path from one of the top folders, or from a package's `src`. `<id>` and the like stand for a name. */
const ownPath = new RegExp(`(?:${folderNames}|src)/[\\w@.<>*/-]*\\w`);
/** Made by a build or a run, so that no checkout has them. */
const made = /(?:^|\/)(?:dist|node_modules|build|data)(?:\/|$)/;

const isThere = (path: string): boolean => {
  if (made.test(path) || path.includes('*')) return true;
  if (!path.includes('<')) return known.has(path) || ['.ts', '.test.ts', '.mjs'].some((end) => known.has(path + end));
  const form = new RegExp(`^${path.replaceAll('.', '\\.').replace(/<\w+>/g, '[^/]+')}$`);
  return tracked.some((file) => form.test(file)) || [...known].some((end) => form.test(end));
};

/** In the page of a package `src/…` is the package's own. */
const fromRoot = (file: string, path: string): string => (path.startsWith('src/') && file.endsWith('/README.md') ? posix.join(dirname(file), path) : path);

const wrongPaths = (file: string, text: string, paths: RegExp): string[] =>
  [...text.matchAll(paths)].flatMap(([, path = '']) => (isThere(fromRoot(file, path)) ? [] : [`${file}: ${path}`]));

test('files that documents name are there', () => {
  const inCode = new RegExp(`\`(${ownPath.source})\\/?\``, 'g');
  expect(pages.flatMap((file) => wrongPaths(file, read(file), inCode))).toEqual([]);
});

test('files that comments name are there', () => {
  const inComment = new RegExp(`(?<![\\w/.@-])((?:${folderNames})/[\\w@./-]*\\w\\.(?:tsx?|mjs|md|json|conf|yaml|sh))\\b`, 'g');
  const comment = /^\s*(?:\/\/|\/?\*|#).*$|\/\*\*? .*$|\s\/\/ .*$/gm;
  expect(sources.flatMap((file) => wrongPaths(file, (read(file).match(comment) ?? []).join('\n'), inComment))).toEqual([]);
});

/** The anchor that a heading gets, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .trim()
    .replaceAll(' ', '-');

test('links between documents lead somewhere', () => {
  const wrong = pages.flatMap((file) =>
    [...read(file).matchAll(/\]\((?![a-z]+:)([^)\s#]*)(?:#([^)\s]+))?\)/g)].flatMap(([, path = '', anchor]) => {
      const target = path === '' ? file : posix.join(dirname(file), path);
      if (!existsSync(join(root, target))) return [`${file}: ${path}`];
      if (anchor === undefined || !target.endsWith('.md')) return [];
      const anchors = [...read(target).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
      return anchors.includes(anchor) ? [] : [`${file}: ${path}#${anchor}`];
    }),
  );
  expect(wrong).toEqual([]);
});

/** Pages about the code itself; those for callers and operators name much that is others'. */
const aboutCode = pages.filter((file) => /^docs\/(?:decisions\/|architecture|glossary)|^(?:packages|services|deploy)\/.*README\.md$/.test(file));
/** A class of Node that the code does without, and a rule of Biome. */
const elsewhere = new Set(['AsyncLocalStorage', 'noImportCycles']);

test('functions, types and members that documents name are there', () => {
  const names = new Set(sources.flatMap((file) => read(file).match(/[A-Za-z_]\w*/g) ?? []));
  const wrong = aboutCode.flatMap((file) =>
    [...read(file).matchAll(/`([^`\n]+)`/g)]
      .flatMap(([, code = '']) => code.match(/\b[A-Za-z]\w*[a-z][A-Z]\w*/g) ?? [])
      .filter((name) => !names.has(name) && !elsewhere.has(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(wrong).toEqual([]);
});
