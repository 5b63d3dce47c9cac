/** Why a sign-in failed; a ban counts down until the next try can succeed. */
import { Alert } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiProblem } from '../api/problem.ts';

const sentences: Readonly<Record<string, string>> = { login_failed: 'failed', login_slowed: 'slowed' };

const clock = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;

export function SignInFault({ error }: { error: Error }) {
  const { t } = useTranslation('session');
  if (error instanceof ApiProblem && error.code === 'login_banned' && error.retryAfter !== null) return <Ban key={String(error)} seconds={error.retryAfter} />;
  const sentence = error instanceof ApiProblem ? sentences[error.code] : undefined;
  return (
    <Alert color="red" role="alert">
      {sentence ? t(sentence) : error.message}
    </Alert>
  );
}

function Ban({ seconds }: { seconds: number }) {
  const { t } = useTranslation('session');
  const [end] = useState(() => Date.now() + seconds * 1000);
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    const timer = setInterval(() => setLeft(Math.max(0, Math.ceil((end - Date.now()) / 1000))), 500);
    return () => clearInterval(timer);
  }, [end]);
  if (left === 0) return null;
  return (
    <Alert color="red" role="alert">
      {t('banned', { time: clock(left) })}
    </Alert>
  );
}
