/** Key groups: what the access keys in them may use. */
import { budgetReplySchema, type KeyGroup, keyGroupSchema, memberKeysSchema, showBudget } from '@model-gateway/contracts';
import type { KeyGroupDocument } from '@model-gateway/storage';
import { showMemberKeys } from '../members/show-member-keys.ts';
import { Problem } from '../problem.ts';
import { withOwnCredit } from '../statistics/credit-budget.ts';
import { checkHeaderRules } from '../validation/header-patterns.ts';
import { checkToolAcl } from '../validation/tool-patterns.ts';
import { concealRules, secretsOfRules } from './conceal.ts';
import type { Resource } from './resource.ts';

const listed = 20;

/** Money as people read it. */
const showGroup = (document: KeyGroupDocument): Record<string, unknown> => ({
  ...showBudget(document),
  ...(document.member_keys && { member_keys: showMemberKeys(document.member_keys) }),
});

export const keyGroups: Resource<KeyGroupDocument, KeyGroup> = {
  path: 'key-groups',
  noun: 'key group',
  entityType: 'key_group',
  sortable: ['name', 'created_at', 'updated_at'],
  schema: keyGroupSchema,
  partial: keyGroupSchema.partial(),
  answer: keyGroupSchema.extend({
    budget: budgetReplySchema.nullable().default(null),
    member_keys: memberKeysSchema
      .extend({ max_budget: budgetReplySchema.nullable().default(null) })
      .nullable()
      .default(null),
  }),
  reader: (reader) => reader.keyGroups,
  writer: (writer) => writer.keyGroups,
  toInput: (document) => ({ ...document }),
  toReply: showGroup,
  conceal: (shown) => ({ ...shown, header_acl: concealRules(shown['header_acl']) }),
  secrets: ({ header_acl }) => ({ header_acl: secretsOfRules(header_acl) }),
  check: (input) => [...checkHeaderRules(input.header_acl), ...checkToolAcl(input.mcp_tool_acl)],
  build: async (input, { existing }) => ({ document: withOwnCredit(input, existing?.document) }),
  async checkRemoval({ document }, reader) {
    const keys = await reader.accessKeys.where('group_name', document.name, listed);
    if (keys.length === 0) return;
    const names = keys.map((key) => key.document.name);
    throw new Problem(
      'in_use',
      `The key group still has access keys: ${names.join(', ')}.`,
      names.map((message) => ({ field: 'access_keys', message })),
    );
  },
  toExport: ({ document }) => showGroup(document),
};
