/** Bundles the command line with everything that is JavaScript into `dist/`; native packages stay outside and are listed in `dist/package.json`. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { guestPrologue } from '../services/script-runner/src/child/guest-source.ts';
import { buildWeb } from './build-web.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** `node scripts/build.mjs [FOLDER]`: FOLDER is emptied first. */
const out = resolve(process.argv[2] ?? join(root, 'dist'));
/** Packages with a compiled part, and where their version stands. */
const native = {
  'isolated-vm': 'services/script-runner/package.json',
  argon2: 'services/console/package.json',
  bcrypt: 'services/console/package.json',
};

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
await build({
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
  sourcemap: 'linked',
  external: [...Object.keys(native), 'pg-native'],
  // A process keeps the text of its program in memory. Names stay, so that stacks can be read.
  minifyWhitespace: true,
  lineLimit: 160,
  legalComments: 'external',
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url); import { dirname as __dirnameOf } from 'node:path'; import { fileURLToPath as __toPath } from 'node:url'; const __filename = __toPath(import.meta.url); const __dirname = __dirnameOf(__filename);",
  },
  logLevel: 'warning',
});
// One character that is not ASCII, as in a comment or a regular expression, would double what the text takes in memory.
for (const name of readdirSync(out).filter((file) => file.endsWith('.js'))) {
  const text = readFileSync(join(out, name), 'utf8');
  writeFileSync(
    join(out, name),
    text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
cpSync(await buildWeb(), join(out, 'web'), { recursive: true });
const version = (file, name) => JSON.parse(readFileSync(join(root, file), 'utf8')).dependencies[name];
writeFileSync(
  join(out, 'package.json'),
  `${JSON.stringify({ name: 'model-gateway', private: true, type: 'module', dependencies: Object.fromEntries(Object.entries(native).map(([name, file]) => [name, version(file, name)])) }, null, 2)}\n`,
);
