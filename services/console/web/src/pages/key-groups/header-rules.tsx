/** Rules on the caller's headers, and a try of them by the very code that decides at the edge. */
import { ActionIcon, Alert, Button, Fieldset, Group, Select, Stack, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { HeaderRule } from '@model-gateway/contracts';
import { IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type GroupForm, headerRules } from './key-group.ts';

const matches = ['exists', 'absent', 'equals', 'prefix', 'suffix', 'contains', 'regex'] as const;
const withoutValue = new Set<string>(['exists', 'absent']);

export function HeaderRules({ form }: { form: UseFormReturnType<GroupForm> }) {
  const { t } = useTranslation('key-groups');
  const rules = form.values.header_acl;
  return (
    <>
      {rules.map((rule, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order is the rules' only identity
        <Group key={index} align="flex-end" gap="xs">
          <TextInput flex="1 1 120px" label={t('header')} placeholder="x-team" {...form.getInputProps(`header_acl.${index}.header`)} />
          <Select
            w={130}
            label={t('match')}
            allowDeselect={false}
            data={matches.map((value) => ({ value, label: t(`matches.${value}`) }))}
            {...form.getInputProps(`header_acl.${index}.match`)}
          />
          {!withoutValue.has(rule.match) && <TextInput flex="1 1 120px" label={t('value')} {...form.getInputProps(`header_acl.${index}.value`)} />}
          <Select
            w={100}
            label={t('action')}
            allowDeselect={false}
            data={['allow', 'deny'].map((value) => ({ value, label: t(`actions.${value}`) }))}
            {...form.getInputProps(`header_acl.${index}.action`)}
          />
          <Group gap={0} wrap="nowrap">
            <ActionIcon
              size="lg"
              color="gray"
              disabled={index === 0}
              aria-label={t('moveUp', { index: index + 1 })}
              onClick={() => form.reorderListItem('header_acl', { from: index, to: index - 1 })}
            >
              <IconArrowUp size={18} aria-hidden />
            </ActionIcon>
            <ActionIcon size="lg" color="red" aria-label={t('removeRule', { index: index + 1 })} onClick={() => form.removeListItem('header_acl', index)}>
              <IconTrash size={18} aria-hidden />
            </ActionIcon>
          </Group>
        </Group>
      ))}
      <Group>
        <Button
          variant="light"
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => form.insertListItem('header_acl', { header: '', match: 'exists', value: '', action: 'allow' })}
        >
          {t('addRule')}
        </Button>
      </Group>
      {rules.length > 0 && <Trial rules={headerRules(rules)} />}
    </>
  );
}

function Trial({ rules }: { rules: readonly HeaderRule[] }) {
  const { t } = useTranslation('key-groups');
  const [text, setText] = useState('x-team: red');
  const decide = useMutation({
    mutationFn: async () => {
      // The linear-time regular expressions are only loaded for who tries.
      const { decidingRule, headersAllowed } = await import('@model-gateway/routing/header-rules');
      const headers = readHeaders(text);
      return { allowed: headersAllowed(rules, headers), rule: decidingRule(rules, headers) };
    },
  });
  const { data, error } = decide;
  return (
    <Fieldset legend={t('trial')}>
      <Stack gap="xs">
        <Textarea
          label={t('trialHeaders')}
          description={t('trialHint')}
          autosize
          minRows={2}
          maxRows={6}
          classNames={{ input: 'mono' }}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Group>
          <Button variant="light" size="xs" loading={decide.isPending} onClick={() => decide.mutate()}>
            {t('trialRun')}
          </Button>
        </Group>
        {data && (
          <Alert color={data.allowed ? 'green' : 'red'} variant="light" role="status">
            {t(data.allowed ? 'allowed' : 'denied')} {data.rule < 0 ? t('noRule') : t('byRule', { index: data.rule + 1 })}
          </Alert>
        )}
        {error && (
          <Alert color="red" variant="light" role="alert">
            {error.message}
          </Alert>
        )}
      </Stack>
    </Fieldset>
  );
}

function readHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
  }
  return headers;
}
