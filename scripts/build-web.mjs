/** Builds the console's web application, unless the build of these very sources stands already. `buildWeb()` gives its folder. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const web = join(root, 'services/console/web');
const folder = join(web, 'dist');
const stamp = join(folder, '.sources');

export async function buildWeb() {
  const wanted = fingerprint();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return folder;
  process.stderr.write('Building the console (when its sources have changed) …\n');
  // Vite belongs to the application's own package.
  const vite = await import(pathToFileURL(createRequire(join(web, 'package.json')).resolve('vite')).href);
  // Whoever asks for it, a test runner too, gets the build that operators get.
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = 'production';
  await vite.build({ root: web, configFile: join(web, 'vite.config.ts'), logLevel: 'warn' });
  if (NODE_ENV === undefined) delete process.env.NODE_ENV;
  else process.env.NODE_ENV = NODE_ENV;
  writeFileSync(stamp, wanted);
  return folder;
}

function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'pnpm-lock.yaml')));
  const names = ['index.html', 'vite.config.ts', 'package.json', ...['src', 'public'].flatMap(filesBelow)].sort();
  for (const name of names) hash.update(name).update(readFileSync(join(web, name)));
  return hash.digest('hex');
}

const filesBelow = (name) =>
  readdirSync(join(web, name), { recursive: true, encoding: 'utf8' })
    .map((file) => join(name, file))
    .filter((file) => statSync(join(web, file)).isFile());

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildWeb();
