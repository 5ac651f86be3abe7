import { token, type RedactionRule } from './rule.ts';

/** Keys that their makers gave a form by which they can be known. */
export const VENDOR_KEY_RULES: readonly RedactionRule[] = [
  token('longcall', String.raw`lct_[A-Za-z0-9_-]{43}`),
  token('aws', String.raw`(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}`),
  token(
    'google',
    String.raw`AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}`,
  ),
  token('azure', String.raw`[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}`),
  token('github', String.raw`gh[pousr]_[A-Za-z0-9]{10,}|github_pat_[A-Za-z0-9_]{20,}`),
  token('gitlab', String.raw`gl(?:pat|ptt|dt|rt|cbt|oas|ft|imt|agent|soat)-[A-Za-z0-9_.-]{20,}`),
  token('slack', String.raw`xox[abeoprs][.-][A-Za-z0-9.-]{10,}|xapp-[A-Za-z0-9-]{10,}`),
  {
    name: 'slack-webhook',
    pattern: /(?<before>hooks\.slack\.com\/(?:services|workflows)\/)[A-Za-z0-9/]{10,}/g,
  },
  token('stripe', String.raw`[prs]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}`),
  token('openai-anthropic', String.raw`sk-[A-Za-z0-9_-]{16,}`),
  token('npm', String.raw`npm_[A-Za-z0-9]{36}`),
  token('pypi', String.raw`pypi-[A-Za-z0-9_-]{50,}`),
  token('hugging-face', String.raw`hf_[A-Za-z0-9]{30,}`),
  token('docker', String.raw`dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}`),
  token('sendgrid', String.raw`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`),
  token('twilio', String.raw`SK[0-9a-f]{32}`),
  token('mailgun', String.raw`key-[0-9a-f]{32}`),
  token('digitalocean', String.raw`do[opr]_v1_[0-9a-f]{64}`),
  token('shopify', String.raw`shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}`),
  token('databricks', String.raw`dapi[0-9a-f]{32}`),
  token('telegram', String.raw`\d{8,10}:AA[A-Za-z0-9_-]{33}`),
  token('vault', String.raw`hv[bs]\.[A-Za-z0-9_-]{20,}`),
  token('atlassian', String.raw`ATATT3[A-Za-z0-9_=-]{20,}`),
  token('grafana', String.raw`gl(?:sa|c)_[A-Za-z0-9_+/=]{20,}`),
  token('linear', String.raw`lin_(?:api|oauth)_[A-Za-z0-9]{20,}`),
  token('notion', String.raw`ntn_[A-Za-z0-9]{20,}`),
  token('postman', String.raw`PMAK-[0-9a-f]{24}-[0-9a-f]{34}`),
];
