/** Logins at vendors: begin one, look whether it ended, complete it. */
import { loginFlows } from '@model-gateway/protocols/login';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import { createUpstream } from '../sso/create-upstream.ts';
import { type AfterLogin, beginLogin, completeLogin, lookAtLogin } from '../sso/logins.ts';
import { readInput } from '../validation/read-input.ts';
import { ssoLogin } from './answers/sso.ts';
import { base, parameter, type Route } from './route.ts';
import { auditOfImport, newCredential } from './sso-routes.ts';

const tag = 'sso-credentials';
const all = `${base}/sso-credentials/login`;

const loginBody = newCredential.extend({
  flow: z.enum(loginFlows).optional().describe('Absent: the first of the profile'),
  redirect_url: z.string().max(2048).optional().describe('Where this machine listens for the browser'),
});
const completeBody = z.strictObject({ redirect_url: z.string().min(1).max(16_384).describe('The whole address that the browser was sent back to') });

export function ssoLoginRoutes(upstreams: ResourceOperations, context: ConsoleContext): Route[] {
  const after =
    (request: Request, response: Response): AfterLogin =>
    async (row, { given, upstream, device }) => {
      await context.audit(auditOfImport(request, response, row, { flow: device ? 'device' : 'code', replaced: given.replace === true }));
      return createUpstream(row, upstream, { upstreams, context, call: { request, response } });
    };
  return [
    {
      method: 'post',
      path: all,
      operationId: 'begin_sso_login',
      summary: 'Begin a login: a code for the page of the vendor, or the address of that page',
      tag,
      body: loginBody,
      status: 201,
      answer: ssoLogin,
      failures: [409, 502],
      async handle(request, response) {
        response.status(201).json(await beginLogin(readInput(loginBody, request.body), context));
      },
    },
    {
      method: 'get',
      path: `${all}/{id}`,
      operationId: 'read_sso_login',
      summary: 'How far a login is; asks the vendor, no faster than it allows',
      tag,
      status: 200,
      answer: ssoLogin,
      failures: [404],
      async handle(request, response) {
        response.json(await lookAtLogin(parameter(request, 'id'), after(request, response), context));
      },
    },
    {
      method: 'post',
      path: `${all}/{id}/complete`,
      operationId: 'complete_sso_login',
      summary: 'Complete a login by the address that the browser was sent back to',
      tag,
      body: completeBody,
      status: 200,
      answer: ssoLogin,
      failures: [404, 502],
      async handle(request, response) {
        const { redirect_url: redirectUrl } = readInput(completeBody, request.body);
        response.json(await completeLogin(parameter(request, 'id'), redirectUrl, after(request, response), context));
      },
    },
  ];
}
