/** Tries scripts, and describes to editors what scripts may use. */
import { headersForScripts, queryForScripts } from '@model-gateway/body-rules';
import type { ScriptContext, ScriptSlot } from '@model-gateway/contracts';
import { scriptTypes } from '@model-gateway/script-language';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { testScript } from '../probes/test-script.ts';
import { Problem } from '../problem.ts';
import { readInput } from '../validation/read-input.ts';
import { scriptTest, scriptTypes as scriptTypesAnswer } from './answers/routing.ts';
import { base, type Route } from './route.ts';

const givenTexts = z.record(z.string(), z.string());
const texts = givenTexts.default({});
const contextSchema = z
  .strictObject({
    clientModel: z.string().default(''),
    upstreamModel: z.string().default(''),
    upstreamName: z.string().default(''),
    sourceProtocol: z.string().default(''),
    targetProtocol: z.string().default(''),
    stream: z.boolean().default(false),
    headers: texts,
    query: texts,
    requestId: z.string().default(''),
    clientIp: z.string().default(''),
    accessKeyName: z.string().default(''),
    accessKeyGroup: z.string().default(''),
    responseStatus: z.int().optional(),
    responseHeaders: givenTexts.optional(),
    elapsedMs: z.number().optional(),
  })
  .prefault({});

const testSchema = z.strictObject({
  script: z.string().max(100_000),
  body: z.record(z.string(), z.json()),
  context: contextSchema,
  /** Absent: a response script when the context is a response's. */
  slot: z.enum(['request_transform_before', 'request_transform_after', 'response_transform']).optional(),
});

export const scriptRoutes = (consoleContext: ConsoleContext): Route[] => [
  {
    method: 'post',
    path: `${base}/scripts/test`,
    operationId: 'test_script',
    summary: 'Run a script over a body, as the gateway would',
    tag: 'scripts',
    body: testSchema,
    status: 200,
    answer: scriptTest,
    failures: [422, 503],
    async handle(request, response) {
      const { script, body, context, slot } = readInput(testSchema, request.body);
      const phase = slot ?? slotOf(context);
      const { outcome, body: made } = await testScript({ script, body, context: contextOf(context, phase), slot: phase }, consoleContext);
      const { fault, execution_time_ms, operations, use_model } = outcome;
      if (fault) {
        if (fault.code.startsWith('ScriptRunner')) throw new Problem('service_unavailable', fault.message);
        response.status(422).json({ error: fault });
        return;
      }
      response.json({ result_body: made, execution_time_ms, operations, ...(use_model !== null && { use_model }) });
    },
  },
  {
    method: 'get',
    path: `${base}/scripts/types`,
    operationId: 'read_script_types',
    summary: 'Declarations of what a script sees, in TypeScript',
    tag: 'scripts',
    status: 200,
    answer: scriptTypesAnswer,
    handle(_request, response) {
      response.json({ types: scriptTypes });
    },
  },
];

type Context = z.output<typeof contextSchema>;
const slotOf = (context: Context) => (context.responseStatus === undefined ? ('request_transform_after' as const) : ('response_transform' as const));

/** As a call that the gateway serves would give it: without credentials. What a request's script does not see, a reply's always does. */
function contextOf({ responseStatus = 200, responseHeaders = {}, elapsedMs = 0, ...given }: Context, slot: ScriptSlot): ScriptContext {
  const context = { ...given, headers: headersForScripts(lowerNames(given.headers)), query: queryForScripts(Object.entries(given.query)) };
  if (slot !== 'response_transform') return context;
  return { ...context, responseStatus, responseHeaders: headersForScripts(lowerNames(responseHeaders)), elapsedMs };
}

const lowerNames = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
