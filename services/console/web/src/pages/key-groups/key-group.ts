/** A key group as the API gives it, and as the form holds it. */
import type { ResourceState } from '@model-gateway/console/answers';
import type { HeaderRule, McpToolAcl, OnBreak, StoreBodies } from '@model-gateway/contracts';
import { type BudgetForm, budgetBody, budgetForm, type KeyLimitForm, keyLimitBody, keyLimitForm } from '../../components/limit-fields.tsx';

/** A key group, as the API returns it. */
export interface KeyGroup {
  name: string;
  /** How it stands; absent right after a change. */
  state?: ResourceState;
  models: string[];
  header_acl: HeaderRule[];
  rate_limit?: unknown;
  budget?: unknown;
  strict_translation?: boolean;
  unpriced?: 'allow' | 'refuse';
  passthrough?: 'on' | 'off';
  server_tools?: 'on' | 'off';
  store_bodies?: StoreBodies | null;
  mcp_tool_acl?: McpToolAcl;
  on_break?: OnBreak | null;
  members?: string[];
  member_keys?: { max: number; max_budget: unknown; max_days: number | null } | null;
  enabled: boolean;
  description: string;
}

interface RuleForm {
  header: string;
  match: HeaderRule['match'];
  value: string;
  action: HeaderRule['action'];
}

interface StoreBodiesForm {
  enabled: boolean;
  /** In KiB. Empty: the default. */
  kib: number | '';
  ttl_hours: number | '';
}

/** Within what members make keys. */
export interface MemberKeysForm {
  allowed: boolean;
  max: number | '';
  max_budget: BudgetForm;
  max_days: number | '';
}

/** A key group, as the form holds it. */
export interface GroupForm extends Record<string, unknown> {
  name: string;
  models: string[];
  header_acl: RuleForm[];
  rate_limit: KeyLimitForm;
  budget: BudgetForm;
  strict_translation: boolean;
  refuse_unpriced: boolean;
  passthrough: boolean;
  server_tools: boolean;
  store_bodies: StoreBodiesForm;
  mcp_tool_acl: McpToolAcl;
  /** Empty: what the upstream says. */
  on_break: string;
  members: string[];
  member_keys: MemberKeysForm;
  enabled: boolean;
  description: string;
}

const noTools: McpToolAcl = { allowed_tools: [], denied_tools: [], allowed_tags: [] };

const storesNothing: StoreBodiesForm = { enabled: false, kib: 64, ttl_hours: 24 };

export const emptyGroup: GroupForm = {
  name: '',
  models: [],
  header_acl: [],
  rate_limit: keyLimitForm(undefined),
  budget: budgetForm(undefined),
  strict_translation: false,
  refuse_unpriced: false,
  passthrough: true,
  server_tools: false,
  store_bodies: storesNothing,
  mcp_tool_acl: noTools,
  on_break: '',
  members: [],
  member_keys: { allowed: false, max: 3, max_budget: budgetForm(undefined), max_days: 90 },
  enabled: true,
  description: '',
};

export const toForm = (group: KeyGroup): GroupForm => ({
  name: group.name,
  models: group.models,
  header_acl: group.header_acl.map((rule) => ({ ...rule, value: rule.value ?? '' })),
  rate_limit: keyLimitForm(group.rate_limit),
  budget: budgetForm(group.budget),
  strict_translation: group.strict_translation ?? false,
  refuse_unpriced: group.unpriced === 'refuse',
  passthrough: group.passthrough !== 'off',
  server_tools: group.server_tools === 'on',
  store_bodies: group.store_bodies
    ? { enabled: group.store_bodies.enabled, kib: group.store_bodies.max_bytes / 1024, ttl_hours: group.store_bodies.ttl_hours }
    : storesNothing,
  mcp_tool_acl: group.mcp_tool_acl ?? noTools,
  on_break: group.on_break ?? '',
  members: group.members ?? [],
  member_keys: {
    allowed: group.member_keys != null,
    max: group.member_keys?.max ?? 3,
    max_budget: budgetForm(group.member_keys?.max_budget),
    max_days: group.member_keys ? (group.member_keys.max_days ?? '') : 90,
  },
  enabled: group.enabled,
  description: group.description,
});

/** Those that look only whether a header is there have no value. */
export const headerRules = (rules: readonly RuleForm[]): HeaderRule[] =>
  rules.map(({ value, ...rule }) => ({ ...rule, ...(rule.match !== 'exists' && rule.match !== 'absent' && { value }) }));

const storeBodiesBody = ({ enabled, kib, ttl_hours }: StoreBodiesForm) =>
  enabled ? { enabled, ...(kib !== '' && { max_bytes: Math.round(kib * 1024) }), ...(ttl_hours !== '' && { ttl_hours }) } : null;

const memberKeysBody = ({ allowed, max, max_budget, max_days }: MemberKeysForm) =>
  allowed ? { max: max === '' ? 0 : max, max_budget: budgetBody(max_budget), max_days: max_days === '' ? null : max_days } : null;

export const toBody = ({ refuse_unpriced, ...form }: GroupForm) => ({
  ...form,
  unpriced: refuse_unpriced ? 'refuse' : 'allow',
  name: form.name.trim(),
  header_acl: headerRules(form.header_acl),
  rate_limit: keyLimitBody(form.rate_limit),
  budget: budgetBody(form.budget),
  passthrough: form.passthrough ? 'on' : 'off',
  server_tools: form.server_tools ? 'on' : 'off',
  store_bodies: storeBodiesBody(form.store_bodies),
  on_break: form.on_break || null,
  member_keys: memberKeysBody(form.member_keys),
});
