/** An alert channel as the API gives it, and as the form holds it. */

/** What alerts tell. */
export const alertEvents = [
  'budget',
  'upstream_failing',
  'upstream_recovered',
  'price_missing',
  'ban',
  'key_expiring',
  'key_new_address',
  'credential_needs_login',
] as const;

interface Smtp {
  host: string;
  port: number;
  security: 'starttls' | 'tls' | 'none';
  username: string | null;
  /** A mask; null: none. */
  password: string | null;
}

/** An alert channel, as the API returns it: secrets as masks. */
export interface AlertChannel {
  name: string;
  kind: 'webhook' | 'slack' | 'email';
  url: string | null;
  secret: string | null;
  smtp: Smtp | null;
  from: string | null;
  to: string[];
  to_owner: boolean;
  events: string[];
  quiet_minutes: number;
  enabled: boolean;
  description: string;
}

interface SmtpForm {
  host: string;
  port: number | '';
  security: Smtp['security'];
  username: string;
  password: string;
}

/** As the form holds it. */
export interface ChannelForm extends Record<string, unknown> {
  name: string;
  kind: AlertChannel['kind'];
  url: string;
  secret: string;
  smtp: SmtpForm;
  from: string;
  to: string[];
  to_owner: boolean;
  events: string[];
  quiet_minutes: number | '';
  enabled: boolean;
  description: string;
}

const emptySmtp: SmtpForm = { host: '', port: 587, security: 'starttls', username: '', password: '' };

export const emptyChannel: ChannelForm = {
  name: '',
  kind: 'webhook',
  url: '',
  secret: '',
  smtp: emptySmtp,
  from: '',
  to: [],
  to_owner: false,
  events: [...alertEvents],
  quiet_minutes: 60,
  enabled: true,
  description: '',
};

export const toForm = ({ url, secret, smtp, from, ...channel }: AlertChannel): ChannelForm => ({
  ...channel,
  url: url ?? '',
  secret: secret ?? '',
  smtp: smtp === null ? emptySmtp : { ...smtp, username: smtp.username ?? '', password: smtp.password ?? '' },
  from: from ?? '',
});

const orNull = (text: string): string | null => text.trim() || null;

/** Of the other kinds nothing is sent. */
export function toBody({ url, secret, smtp, from, to, to_owner, ...form }: ChannelForm) {
  const isMail = form.kind === 'email';
  const { host, port, security, username, password } = smtp;
  return {
    ...form,
    name: form.name.trim(),
    quiet_minutes: form.quiet_minutes === '' ? null : form.quiet_minutes,
    url: isMail ? null : orNull(url),
    secret: form.kind === 'webhook' ? orNull(secret) : null,
    smtp: isMail ? { host: host.trim(), port: port === '' ? 587 : port, security, username: orNull(username), password: orNull(password) } : null,
    from: isMail ? orNull(from) : null,
    to: isMail ? to : [],
    to_owner: isMail && to_owner,
  };
}
