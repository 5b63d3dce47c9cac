/** Sign-in by user name and password, with the console's secret key, or at another service. */
import { Alert, Button, Card, Center, Divider, SegmentedControl, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ChangeEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { ApiProblem, readProblem, unreachable } from '../api/problem.ts';
import { SecretInput } from '../components/secret-input.tsx';
import { arrival, exchangeCode, rememberPage, startAddress, useSignInOptions } from './elsewhere.ts';
import { SignInFault } from './sign-in-fault.tsx';
import { rememberToken } from './token.ts';

type Way = 'password' | 'secretKey';

export function SignInPage() {
  const { t } = useTranslation('session');
  const [way, setWay] = useState<Way>('password');
  const [values, setValues] = useState({ username: 'admin', password: '', key: '' });
  const input = (name: keyof typeof values) => ({
    value: values[name],
    onChange: (event: ChangeEvent<HTMLInputElement>) => setValues({ ...values, [name]: event.currentTarget.value }),
  });
  const signIn = useMutation({
    mutationFn: async ({ username, password, key }: typeof values) => {
      if (way === 'password') return (await call<{ token: string }>('login', { method: 'POST', body: { username, password } })).token;
      // A secret key is its own token: one question tells whether it is right.
      const response = await fetch('/console/api/me', { headers: { authorization: `Bearer ${key.trim()}` } }).catch(() => {
        throw unreachable();
      });
      if (response.ok) return key.trim();
      throw response.status === 401 ? new ApiProblem(response.status, 'unauthorized', t('wrongKey')) : await readProblem(response);
    },
    onSuccess: rememberToken,
  });
  const password = useRef<HTMLInputElement>(null);
  useEffect(() => password.current?.focus(), []);
  const { data: options } = useSignInOptions();
  const finish = useMutation({ mutationFn: exchangeCode, onSuccess: rememberToken });
  const { mutate: finishElsewhere } = finish;
  useEffect(() => {
    if (arrival.code !== null) finishElsewhere(arrival.code);
  }, [finishElsewhere]);
  const fault = signIn.error ?? finish.error;
  return (
    <Center component="main" h="100%" p="md">
      <Card withBorder shadow="sm" w="100%" maw={400} p="xl">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            signIn.mutate(values);
          }}
        >
          <Stack>
            <img src="/console/icon.svg" width={40} height={40} alt="" />
            <div>
              <Title order={1}>{t('title')}</Title>
              <Text c="dimmed" size="sm">
                {t('hint')}
              </Text>
            </div>
            <SegmentedControl
              value={way}
              onChange={(value) => setWay(value as Way)}
              data={[
                { value: 'password', label: t('withPassword') },
                { value: 'secretKey', label: t('withKey') },
              ]}
              aria-label={t('way')}
            />
            {way === 'password' ? (
              <>
                <TextInput label={t('username')} autoComplete="username" required {...input('username')} />
                <SecretInput label={t('password')} autoComplete="current-password" required ref={password} {...input('password')} />
              </>
            ) : (
              <SecretInput label={t('key')} description={t('keyHint')} autoComplete="off" required {...input('key')} />
            )}
            {fault && <SignInFault error={fault} />}
            {!fault && arrival.fault && (
              <Alert color="red" role="alert">
                {t(`faults.${arrival.fault}`)}
              </Alert>
            )}
            <Button type="submit" loading={signIn.isPending}>
              {t('signIn')}
            </Button>
            {way === 'password' && (
              <Text c="dimmed" size="xs">
                {t('firstStart')}
              </Text>
            )}
            {options?.oidc && (
              <>
                <Divider label={t('or')} />
                <Button component="a" href={startAddress} onClick={rememberPage} variant="default" loading={finish.isPending}>
                  {t('with', { label: options.oidc.label })}
                </Button>
              </>
            )}
          </Stack>
        </form>
      </Card>
    </Center>
  );
}
