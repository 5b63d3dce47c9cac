/** Serves the built application: hashed files for ever, every other address below `/console` as its one page. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type RequestHandler, Router } from 'express';
import sirv from 'sirv';
import { base } from '../api/route.ts';

/** Scripts come from our own files alone. Styles may stand inline: the component library sets positions and variables that way. */
const pagePolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  // Sound that a test call was answered with.
  "media-src 'self' data: blob:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const placeholder = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Model gateway console</title>
<h1>Model gateway console</h1>
<p>The web application is not built here. The administration API lives at <code>${base}</code>; every call needs <code>Authorization: Bearer</code> and a console token.</p>
<p>Its description is at <code>${base}/openapi.json</code>.</p>
</html>
`;

/** `folder`: what Vite built; null or missing: a plain page that says so. The API's own addresses pass through. */
export function webApp(folder: string | null): RequestHandler {
  const router = Router({ caseSensitive: true });
  router.use('/console', (request, _response, next) => next(isApi(request.path) ? 'router' : undefined));
  if (folder === null || !existsSync(join(folder, 'index.html'))) {
    router.get('/console', (_request, response) => void response.type('html').send(placeholder));
    return router;
  }
  const files = sirv(folder, {
    brotli: true,
    gzip: true,
    etag: true,
    single: true,
  });
  router.use('/console', (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    // Before the file is looked for: a 304 carries them too, and what it says replaces what the browser has kept.
    response.set('Content-Security-Policy', pagePolicy);
    // Built names change with their content; the page itself is asked for each time.
    response.set('Cache-Control', request.path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache');
    // Another build may have removed the file: opening it then fails after the head, which must end this answer, not the process.
    response.once('pipe', (file: Readable) => {
      file.once('error', () => response.destroy());
      response.once('close', () => file.destroy());
    });
    // A file that was replaced by a newer build is missing, not the page: the browser would take that for a script.
    files(request, response, () => void response.status(404).set('Cache-Control', 'no-store').type('text').send('Not found'));
  });
  return router;
}

const isApi = (path: string): boolean => path === '/api' || path.startsWith('/api/');
