/** Builds the console's web application, unless the build of these very sources stands already. `buildWeb()` gives its folder. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const web = join(root, 'services/console/web');
const folder = join(web, 'dist');
const stamp = join(folder, '.sources');
const lock = join(web, 'node_modules', '.console-build');
/** Longer than any build takes: its holder was killed. */
const lockMs = 180_000;

export async function buildWeb() {
  const wanted = fingerprint();
  const isBuilt = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  if (isBuilt()) return folder;
  await takeLock();
  try {
    if (!isBuilt()) await build(wanted);
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
  return folder;
}

/** Two at once would empty the folder under each other: the second waits, and finds the work done. */
async function takeLock() {
  for (;;) {
    try {
      return mkdirSync(lock);
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - since > lockMs) rmSync(lock, { recursive: true, force: true });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function build(wanted) {
  process.stderr.write('Building the console (when its sources have changed) …\n');
  // Vite belongs to the application's own package.
  const vite = await import(pathToFileURL(createRequire(join(web, 'package.json')).resolve('vite')).href);
  // A test runner gets the build that operators get.
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = 'production';
  await vite.build({ root: web, configFile: join(web, 'vite.config.ts'), logLevel: 'warn' });
  if (NODE_ENV === undefined) delete process.env.NODE_ENV;
  else process.env.NODE_ENV = NODE_ENV;
  writeFileSync(stamp, wanted);
}

function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'pnpm-lock.yaml')));
  const own = ['index.html', 'vite.config.ts', 'package.json'].map((name) => join(web, name));
  const folders = [join(web, 'src'), join(web, 'public'), ...packagesInUse().map((name) => join(realpathSync(join(web, 'node_modules', name)), 'src'))];
  for (const file of [...own, ...folders.flatMap(filesBelow)].sort()) hash.update(relative(root, file)).update(readFileSync(file));
  return hash.digest('hex');
}

/** Packages of this repository whose code goes into the application. */
function packagesInUse() {
  const { devDependencies } = JSON.parse(readFileSync(join(web, 'package.json'), 'utf8'));
  return Object.keys(devDependencies).flatMap((name) => (devDependencies[name] === 'workspace:*' ? [name] : []));
}

const filesBelow = (place) =>
  readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildWeb();
