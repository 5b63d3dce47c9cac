/** Bundles the command line with everything that is JavaScript; packages with a compiled part stay outside. For images, for the bench and for the gateways that tests start. */
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { guestPrologue } from '../services/script-runner/src/child/guest-source.ts';
import { copyPackage } from './copy-packages.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Packages with a compiled part, and who depends on them. */
const native = {
  'isolated-vm': 'services/script-runner',
  argon2: 'services/console',
  bcrypt: 'services/console',
};

/** Names and versions of the packages that stay outside, as a `package.json` lists them. */
export const outside = () =>
  Object.fromEntries(
    Object.entries(native).map(([name, owner]) => [name, JSON.parse(readFileSync(join(root, owner, 'package.json'), 'utf8')).dependencies[name]]),
  );

/** Copies the packages that stay outside, and what they need, into the `node_modules` of `folder`. */
export function copyOutside(folder) {
  for (const [name, owner] of Object.entries(native)) copyPackage(name, join(root, owner), folder);
}

/** Puts links to the packages that stay outside into the `node_modules` of `folder`, so that the bundle runs in this checkout. */
export function linkOutside(folder) {
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  for (const [name, owner] of Object.entries(native)) symlinkSync(realpathSync(join(root, owner, 'node_modules', name)), join(folder, 'node_modules', name));
}

/**
 * A module of Node that is imported has each of its exports read at once, and one of this module is the whole of Node's own client of WebSockets and
 * fetch: 60 ms of CPU and 13 MB in every process. Where it is required, that is loaded by who uses it.
 */
const plainHttp = {
  name: 'plain-http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:node:)?http$/ }, ({ kind }) => (kind === 'import-statement' ? { path: 'http', namespace: 'plain-http' } : undefined));
    onLoad({ filter: /.*/, namespace: 'plain-http' }, () => ({ contents: "module.exports = process.getBuiltinModule('node:http');", loader: 'js' }));
  },
};

/**
 * A CommonJS package that is imported on need is a file of its own, which the bundler gives a default export alone. Others are added here, under the
 * names that Node finds in it.
 */
const namesOfCommonJs = {
  name: 'names-of-commonjs',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^[^.]/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === 'resolved' || isBuiltin(path)) return undefined;
      const found = await resolve(path, { kind, resolveDir, pluginData: 'resolved' });
      return found.external || isModule(found.path) ? undefined : { path: found.path, namespace: 'names-of-commonjs' };
    });
    onLoad({ filter: /.*/, namespace: 'names-of-commonjs' }, async ({ path }) => {
      const names = Object.keys(await import(pathToFileURL(path).href)).filter((name) => name !== 'default' && /^[\w$]+$/.test(name));
      const lines = [
        `import * as all from ${JSON.stringify(path)};`,
        'export default all.default ?? all;',
        ...names.map((name) => `export const ${name} = all.${name};`),
      ];
      return { contents: lines.join('\n'), resolveDir: dirname(path) };
    });
  },
};

/** By what is in it: packages for bundlers hold modules under names that Node takes for CommonJS. */
const isModule = (file) => /^(?:import|export)\b/m.test(readFileSync(file, 'utf8'));

/** Empties `out` and writes the bundle into it. `readable`: line by line and without source maps, which is faster. */
export async function bundle(out, { readable = false } = {}) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const runner = join(root, 'services/script-runner/src');
  /** What runs inside an isolate: one module without imports, and without anything of Node. */
  await build({
    entryPoints: { 'script-guest': join(runner, 'guest/main.ts') },
    outdir: out,
    bundle: true,
    target: 'node24',
    format: 'esm',
    banner: { js: guestPrologue },
    legalComments: 'none',
    logLevel: 'warning',
  });
  const { metafile } = await build({
    entryPoints: {
      'model-gateway': join(root, 'deploy/cli/src/main.ts'),
      worker: join(root, 'services/translator/src/count-tokens/worker.ts'),
      'body-thread': join(root, 'services/console/src/http/reading/thread.ts'),
      'row-thread': join(root, 'packages/storage/src/thread/main.ts'),
      'script-slot': join(runner, 'child/main.ts'),
    },
    outdir: out,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // What a process imports when it needs it is in files of its own, which others do not load.
    splitting: true,
    metafile: true,
    sourcemap: readable ? false : 'linked',
    external: [...Object.keys(native), 'pg-native'],
    plugins: [plainHttp, namesOfCommonJs],
    // A process keeps the text of its program in memory. Names stay, so that stacks can be read.
    minifyWhitespace: !readable,
    ...(!readable && { lineLimit: 160 }),
    legalComments: 'external',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url); import { dirname as __dirnameOf } from 'node:path'; import { fileURLToPath as __toPath } from 'node:url'; const __filename = __toPath(import.meta.url); const __dirname = __dirnameOf(__filename);",
    },
    logLevel: 'warning',
  });
  for (const { entryPoint } of Object.values(metafile.outputs))
    if (metafile.inputs[entryPoint]?.format === 'cjs') throw new Error(`${entryPoint} is CommonJS and imported on need: its names are lost`);
  collectLicenses(out);
  // One character that is not ASCII, as in a comment or a regular expression, would double what the text takes in memory.
  for (const name of readdirSync(out).filter((file) => file.endsWith('.js'))) {
    const text = readFileSync(join(out, name), 'utf8');
    writeFileSync(
      join(out, name),
      text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    );
  }
}

/** Into one file: the bundler writes one beside each of its own. */
function collectLicenses(out) {
  const suffix = '.LEGAL.txt';
  const files = readdirSync(out).filter((file) => file.endsWith(suffix));
  const texts = files.map((file) =>
    readFileSync(join(out, file), 'utf8')
      .replace(/^Bundled license information:\s*/, '')
      .trim(),
  );
  for (const file of files) rmSync(join(out, file));
  writeFileSync(join(out, `licenses${suffix}`), `${texts.sort().join('\n\n')}\n`);
}
