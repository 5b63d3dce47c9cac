/** Writes what an image carries into `dist/`: the bundle, the console's pages, and the packages with a compiled part as the lockfile has them. */
import { cpSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildWeb } from './build-web.mjs';
import { bundle, copyOutside, outside } from './bundle.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** `node scripts/build.mjs [FOLDER]`: FOLDER is emptied first. */
const out = resolve(process.argv[2] ?? join(root, 'dist'));

await bundle(out);
cpSync(await buildWeb(), join(out, 'web'), { recursive: true });
copyOutside(out);
writeFileSync(join(out, 'package.json'), `${JSON.stringify({ name: 'model-gateway', private: true, type: 'module', dependencies: outside() }, null, 2)}\n`);
