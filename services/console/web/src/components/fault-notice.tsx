/** A failed answer in the place where its content would stand, with a way to ask again, unless that role may not ask at all. */
import { Alert, Button, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ApiProblem } from '../api/problem.ts';

export function FaultNotice({ error, onRetry, title }: { error: Error; onRetry?: () => void; title?: string }) {
  const { t } = useTranslation();
  const details = error instanceof ApiProblem ? error.details : [];
  // The message of a fault of fields is the first of them once more, and how many follow.
  const isRepeated = details.some(({ field, message }) => error.message.startsWith(`${field}: ${message}`));
  const isForbidden = error instanceof ApiProblem && error.status === 403;
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={title ?? t('fault.title')} role="alert">
      <Stack gap="xs" align="flex-start">
        {!isRepeated && <Text size="sm">{error.message}</Text>}
        {details.map(({ field, message }) => (
          <Text key={`${field} ${message}`} size="sm">
            <b className="mono">{field}</b> {message}
          </Text>
        ))}
        {onRetry && !isForbidden && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {t('actions.retry')}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
