/** How each well-known client is pointed at this gateway, with the address, key and model filled in. */

import { Autocomplete, Button, Card, Flex, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { clients, findClient } from '@model-gateway/client-setup';
import { IconKey } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { revealKey } from '../../api/access-key-value.ts';
import { offeredNames, useGrantedNames } from '../../api/use-catalog.ts';
import { NameSelect } from '../../components/name-select.tsx';
import { Page } from '../../components/page.tsx';
import { useIsAdmin } from '../../session/use-me.ts';
import { ClientPicker } from './client-picker.tsx';
import { ClientSteps } from './client-steps.tsx';

/** In ASCII: SDKs fail at a header with anything else before they send it, in words about encodings. */
const placeholderKey = 'gk-your-key';
const first = clients[0]!;

export function ClientsPage() {
  const { t } = useTranslation('clients');
  const isAdmin = useIsAdmin();
  const [clientId, setClientId] = useState(first.id);
  const [keyName, setKeyName] = useState<string | null>(null);
  const [typedModel, setTypedModel] = useState<string | null>(null);
  const [baseUrl, setBaseUrl] = useState(location.origin);
  const names = useGrantedNames(keyName);
  const reveal = useMutation({
    mutationFn: revealKey,
    onError: (error) => notifications.show({ message: error.message, color: 'red' }),
  });
  const client = findClient(clientId) ?? first;
  const model = typedModel ?? names[0] ?? '';
  const facts = { baseUrl: baseUrl.trim().replace(/\/+$/, ''), key: reveal.data ?? placeholderKey, model: model || t('aModel') };

  return (
    <Page title={t('title')} hint={t('hint')}>
      <Card withBorder>
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          <TextInput
            label={t('baseUrl')}
            description={t('baseUrlHint')}
            type="url"
            value={baseUrl}
            onChange={(event) => setBaseUrl(event.currentTarget.value)}
          />
          <div>
            <NameSelect
              resource="access-keys"
              label={t('key')}
              description={t('keyHint')}
              clearable
              value={keyName}
              onChange={(name) => {
                setKeyName(name);
                setTypedModel(null);
                reveal.reset();
              }}
            />
            {isAdmin && keyName !== null && reveal.data === undefined && (
              <Button
                mt={6}
                size="xs"
                variant="light"
                leftSection={<IconKey size={14} aria-hidden />}
                loading={reveal.isPending}
                onClick={() => reveal.mutate(keyName)}
              >
                {t('insertKey')}
              </Button>
            )}
          </div>
          <Autocomplete
            label={t('model')}
            description={t('modelHint')}
            data={[...new Set(names)]}
            limit={offeredNames}
            value={model}
            onChange={setTypedModel}
          />
        </SimpleGrid>
      </Card>
      <Flex direction={{ base: 'column', sm: 'row' }} gap="lg" align={{ base: 'stretch', sm: 'flex-start' }}>
        <ClientPicker value={clientId} onChange={setClientId} />
        <Card withBorder flex={1} miw={0}>
          <Stack gap="sm">
            <Title order={3}>{client.name}</Title>
            <ClientSteps client={client} facts={facts} />
            <Text size="sm" c="dimmed">
              {t('commandLine')} <code className="mono">model-gateway setup {client.id} --write</code>
            </Text>
          </Stack>
        </Card>
      </Flex>
    </Page>
  );
}
