/** First steps: from nothing to a client that gets an answer. */
import { Card, Stepper } from '@mantine/core';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Page } from '../../components/page.tsx';
import { useKept } from '../../components/use-kept.ts';
import { dismissFirstSteps } from './first-steps.ts';
import { ModelsStep } from './models-step.tsx';
import { ReadyStep } from './ready-step.tsx';
import { type MadeTeam, TeamsStep } from './teams-step.tsx';
import { TryStep } from './try-step.tsx';
import { emptyProvider, type Provider, UpstreamStep } from './upstream-step.tsx';

/** What earlier steps made. */
interface Made {
  upstream: string;
  /** The values entered for it, kept so that the user can go back and change them. */
  provider: Provider;
  models: string[];
  teams: readonly MadeTeam[];
}

export function StartPage() {
  const { t } = useTranslation('start');
  const [step, setStep] = useKept('start step', 0);
  const [made, setMade] = useKept<Made>('start', { upstream: '', provider: emptyProvider, models: [], teams: [] });
  // Who has seen it is not sent here again.
  useEffect(dismissFirstSteps, []);
  const proceed = (change: Partial<Made>) => {
    setMade((known) => ({ ...known, ...change }));
    setStep((known) => known + 1);
  };
  return (
    <Page title={t('title')} hint={t('hint')}>
      <Card withBorder maw={860}>
        <Stepper active={step} onStepClick={setStep} allowNextStepsSelect={false} size="sm" iconSize={30}>
          <Stepper.Step label={t('upstream.label')}>
            <UpstreamStep made={made.upstream} initial={made.provider} onDone={(upstream, provider) => proceed({ upstream, ...(provider && { provider }) })} />
          </Stepper.Step>
          <Stepper.Step label={t('models.label')}>
            <ModelsStep key={made.upstream} upstream={made.upstream} onDone={(models) => proceed({ models })} />
          </Stepper.Step>
          <Stepper.Step label={t('try.label')}>
            <TryStep key={made.models[0] ?? ''} model={made.models[0] ?? ''} onDone={() => proceed({})} />
          </Stepper.Step>
          <Stepper.Step label={t('teams.label')}>
            <TeamsStep onDone={(teams) => proceed({ teams })} />
          </Stepper.Step>
          <Stepper.Step label={t('ready.label')}>
            <ReadyStep teams={made.teams} model={made.models[0] ?? ''} />
          </Stepper.Step>
        </Stepper>
      </Card>
    </Page>
  );
}
