/** Headers of every answer, errors included. */
import type { NextFunction, Request, Response } from 'express';

export const apiPolicy = "default-src 'none'; frame-ancestors 'none'";

export const securityHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': apiPolicy,
  // Answers hold configuration and, once, keys.
  'Cache-Control': 'no-store',
};

export function setSecurityHeaders(_request: Request, response: Response, next: NextFunction): void {
  response.set(securityHeaders);
  next();
}
