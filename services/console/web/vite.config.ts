/** Builds the application into `dist/`, every file also compressed, so that serving it costs no CPU. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin, type Rolldown } from 'vite';
import { firstAreas } from './src/i18n/first-areas.ts';

const compressible = /\.(?:js|css|html|svg|json)$/;
/** Smaller files gain nothing. */
const minBytes = 1024;

function compressOutput(): Plugin {
  let folder = '';
  return {
    name: 'compress-output',
    apply: 'build',
    configResolved: (config) => {
      folder = join(config.root, config.build.outDir);
    },
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        const file = join(folder, name);
        if (!compressible.test(name) || statSync(file).size < minBytes) continue;
        const bytes = readFileSync(file);
        writeFileSync(`${file}.br`, brotliCompressSync(bytes));
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
      }
    },
  };
}

const textsFile = /\/i18n\/(\w+)\/([\w-]+)\.json$/;
const textsChunk = ([, language = '', area = '']: readonly string[]): string => `texts-${language}${firstAreas.includes(area) ? '' : '-more'}`;
/** What every page needs comes in one file, and a language in two: dozens of small ones cost a slow line a round trip each, and compress worse. */
const codeSplitting: Rolldown.CodeSplittingOptions = {
  groups: [
    { name: 'shell', tags: ['$initial'] },
    { name: (id) => textsChunk(textsFile.exec(id) ?? []), test: textsFile, debugName: 'texts' },
  ],
};

export default defineConfig({
  base: '/console/',
  plugins: [react(), compressOutput()],
  build: {
    target: 'es2022',
    sourcemap: false,
    chunkSizeWarningLimit: 800,
    assetsInlineLimit: 0,
    rolldownOptions: { output: { codeSplitting } },
  },
  server: { proxy: { '/console/api': 'http://127.0.0.1:7890', '/v1': 'http://127.0.0.1:7890', '/v1beta': 'http://127.0.0.1:7890' } },
});
