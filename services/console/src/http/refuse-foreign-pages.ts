/** A second lock beside the bearer token: what changes anything is not taken from a page of another origin, as browsers say it of themselves. */
import type { NextFunction, Request, Response } from 'express';
import { Problem } from '../problem.ts';

const reading = new Set(['GET', 'HEAD', 'OPTIONS']);
/** `none`: the user, not a page. */
const ownPages = new Set(['same-origin', 'none']);

/** Scripts and command lines send neither header. */
export function refuseForeignPages(request: Request, _response: Response, next: NextFunction): void {
  if (!reading.has(request.method) && isForeign(request))
    throw new Problem('forbidden', 'Pages of other origins may not change anything here. (A proxy in front has to pass the Host header on.)');
  next();
}

function isForeign({ headers }: Request): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return !ownPages.has(String(site));
  // Browsers of before 2023, some of them, and pages without TLS.
  const { origin } = headers;
  return origin !== undefined && hostOf(origin) !== headers.host?.toLowerCase();
}

/** null: the origin that a sandboxed page has, and what is no origin at all. */
function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}
