/** Prints the entry of a bundle of these very sources for the gateways that tests start, and builds it when there is none: it starts in a third of the time. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, linkOutside } from './bundle.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, 'node_modules/.cache');
/** Bundles of other sources are removed after a day. */
const keptMs = 86_400_000;
const folder = join(cache, `test-gateway-${fingerprint()}`);

if (!existsSync(folder)) {
  for (const old of mkdirSync(cache, { recursive: true }) ? [] : readdirSync(cache).filter((name) => /^(?:test-gateway|building)-/.test(name))) {
    // Another worker may have given its bundle the final name since the folder was read.
    const { mtimeMs = Date.now() } = statSync(join(cache, old), { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > keptMs) rmSync(join(cache, old), { recursive: true, force: true });
  }
  // Two workers may build at once: each for itself, and the first one's is kept.
  const made = mkdtempSync(join(cache, 'building-'));
  await bundle(made, { readable: true });
  linkOutside(made);
  writeFileSync(join(made, 'package.json'), '{ "type": "module" }\n');
  // The console's pages are built by the suites that open them.
  symlinkSync(join(root, 'services/console/web/dist'), join(made, 'web'));
  try {
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
}
process.stdout.write(join(folder, 'model-gateway.js'));

/** Of everything that goes into it. */
function fingerprint() {
  const hash = createHash('sha256');
  const packages = ['packages', 'services'].flatMap((group) =>
    readdirSync(join(root, group)).flatMap((name) => [join(root, group, name, 'src'), join(root, group, name, 'data')]),
  );
  const files = [...packages, join(root, 'deploy/cli/src')].filter(existsSync).flatMap((one) =>
    readdirSync(one, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const more = ['pnpm-lock.yaml', 'deploy/cli/package.json', 'scripts/bundle.mjs'].map((name) => join(root, name));
  for (const file of [...files, ...more].sort()) hash.update(relative(root, file)).update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}
