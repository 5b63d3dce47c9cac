/** Which MCP servers a group may use: whole servers are switched here, single tools and tags are shown. */
import { MultiSelect, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { useNames } from '../../components/name-select.tsx';
import type { GroupForm } from './key-group.ts';

const isWhole = (pattern: string): boolean => pattern === '*' || /^[a-z0-9][a-z0-9_-]*\.\*$/.test(pattern);

export function McpAccess({ form }: { form: UseFormReturnType<GroupForm> }) {
  const { t } = useTranslation('key-groups');
  const { allowed_tools, denied_tools, allowed_tags } = form.values.mcp_tool_acl;
  const whole = allowed_tools.filter(isWhole);
  const single = allowed_tools.filter((pattern) => !isWhole(pattern));
  const offered = useNames('mcp-servers', '').map((name) => `${name}.*`);
  const lines = [
    single.length > 0 && t('mcp.alsoAllowed', { tools: single.join(', ') }),
    denied_tools.length > 0 && t('mcp.denied', { tools: denied_tools.join(', ') }),
    allowed_tags.length > 0 && t('mcp.tags', { tags: allowed_tags.join(', ') }),
  ].filter((line) => line !== false);
  return (
    <>
      <MultiSelect
        label={t('mcp.servers')}
        description={t('mcp.serversHint')}
        searchable
        clearable
        data={[...new Set(['*', ...whole, ...offered])]}
        value={whole}
        onChange={(chosen) => form.setFieldValue('mcp_tool_acl', { allowed_tools: [...chosen, ...single], denied_tools, allowed_tags })}
      />
      {lines.map((line) => (
        <Text key={line} size="sm" c="dimmed" className="anywhere">
          {line}
        </Text>
      ))}
    </>
  );
}
