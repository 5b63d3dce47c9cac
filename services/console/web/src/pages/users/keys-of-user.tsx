/** Access keys that belong to a user: what is left to do when somebody leaves. */
import { Alert, Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useList } from '../../api/resources.ts';

/** `owners`: as `owner` of a key names the user. */
export function KeysOfUser({ owners }: { owners: readonly string[] }) {
  return owners.map((owner) => <KeysOf key={owner} owner={owner} />);
}

function KeysOf({ owner }: { owner: string }) {
  const { t } = useTranslation('users');
  const count = useList('access-keys', { owner, page_size: 1 }).data?.total ?? 0;
  if (count === 0) return null;
  return (
    <Alert color="blue">
      <Text size="sm" className="anywhere">
        {t('keys', { count, owner })}
      </Text>
      <Anchor component={Link} size="sm" to="/access-keys" search={{ owner } as never}>
        {t('keysLink')}
      </Anchor>
    </Alert>
  );
}
