/** Answers about the configuration as a whole: its history, what a commit did or would do, files. */
import { z } from 'zod';
import { findingStatuses } from '../../transfer/foreign/findings.ts';
import { sections } from '../../transfer/sections.ts';
import { anyObject, anything, count, instant, maybeText, text } from './common.ts';

const section = z.enum([...(Object.keys(sections) as (keyof typeof sections)[]), 'load_balancer_pins', 'sso_credentials']);

/** Fields: before and after, credentials masked; `secret_changed` where what is stored behind two masks differs, be it only sealed anew under another master key. */
const described = {
  total_changes: count,
  changes: z.array(
    z.strictObject({
      section,
      name: text,
      change: z.enum(['created', 'updated', 'deleted']),
      fields: z.record(z.string(), z.strictObject({ before: anything, after: anything, secret_changed: z.literal(true).optional() })),
    }),
  ),
};

const who = {
  revision: count,
  occurred_at: instant,
  actor: text,
  action: text,
  entity_type: text,
  entity_id: text,
  ip_address: maybeText,
  request_id: maybeText,
};
const maybeRevision = count.nullable();

export const historyPage = z.strictObject({ items: z.array(z.strictObject({ ...who, changes: count })), next_cursor: maybeText, revision: count });
export const historyCommit = z.strictObject({ ...who, ...described });
export const historyDiff = z.strictObject({ from: count, to: count, ...described });

/** `revision` null: nothing was changed. */
export const batchAnswer = z.strictObject({
  dry_run: z.boolean(),
  revision: maybeRevision,
  results: z.array(
    z.strictObject({
      action: z.enum(['create', 'update', 'delete']),
      resource: text,
      name: text,
      status: z.union([z.literal(200), z.literal(201), z.literal(204)]),
      /** Not of a rehearsal. */
      etag: maybeText.optional(),
      body: anyObject.nullish(),
    }),
  ),
  ...described,
});

/** The value of an access key, in full. */
export const copiedKey = z.strictObject({ name: text, key: text, api_key: text });

export const rollbackAnswer = z.strictObject({ dry_run: z.boolean(), rolled_back_to: count, revision: maybeRevision, ...described });

const names = z.strictObject(Object.fromEntries(section.options.map((name) => [name, z.array(text)])));
export const importAnswer = z.strictObject({ dry_run: z.boolean(), revision: maybeRevision, created: names, updated: names, unchanged: names, ...described });

/** `file`: YAML for `import`; it may hold secrets in full. */
export const convertAnswer = z.strictObject({
  file: text,
  findings: z.array(z.strictObject({ source_path: text, status: z.enum(findingStatuses), message: text })),
});

/** The format of `import`: secrets as `enc:…` under the master key. */
export const exportedFile = z.strictObject({
  version: z.int(),
  ...Object.fromEntries(section.options.map((name) => [name, z.array(anyObject)])),
});
