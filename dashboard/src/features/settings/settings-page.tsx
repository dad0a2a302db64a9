import { useQuery } from "@tanstack/react-query";
import { Card } from "../../ui/card.tsx";
import { numberOf } from "../../ui/numbers.ts";
import { Page } from "../../ui/page.tsx";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { PasswordForm } from "./password-form.tsx";
import { RetentionForm } from "./retention-form.tsx";
import { Sessions } from "./sessions.tsx";
import { settingsQuery } from "./settings.ts";
import { TimeZoneForm } from "./time-zone-form.tsx";

export function SettingsPage() {
  const settings = useQuery(settingsQuery);
  return (
    <Page title="Settings">
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <Card
          title="Retention"
          description="How long conversations are kept. Older conversations are permanently deleted."
        >
          {settings.isLoadingError ? (
            <ErrorState error={settings.error} onRetry={settings.refetch} />
          ) : (
            <RetentionForm key={settings.data ? "known" : "unknown"} days={settings.data?.retention_days} />
          )}
        </Card>
        <Card title="Time zone" description="Of agents that have none of their own: what time it is for them.">
          {settings.isLoadingError ? (
            <ErrorState error={settings.error} onRetry={settings.refetch} />
          ) : (
            <TimeZoneForm key={settings.data ? "known" : "unknown"} timezone={settings.data?.timezone} />
          )}
        </Card>
        <Card
          title="Limits"
          description="Your tier sets the limit of your keys. The server's operator assigns your tier."
        >
          {settings.data ? (
            <dl className="flex flex-col gap-3">
              <Limit name="Tier" value={settings.data.tier} />
              <Limit name="Requests per minute per key" value={numberOf(settings.data.rate_limit_per_minute)} />
              <Limit
                name="Requests per minute per session"
                value={numberOf(settings.data.session_rate_limit_per_minute)}
              />
            </dl>
          ) : settings.isLoadingError ? (
            <p className="text-muted">Not known until your settings can be read.</p>
          ) : (
            <Skeleton className="h-24" />
          )}
        </Card>
        <Card title="Password" description="Changing your password signs you out everywhere else.">
          <PasswordForm />
        </Card>
        <Card title="Sessions" description="Browsers where you are signed in.">
          <Sessions />
        </Card>
      </div>
    </Page>
  );
}

function Limit({ name, value }: { name: string; value: string }) {
  return (
    <div className="flex items-baseline justify-between gap-4 border-b border-line pb-3 last:border-b-0 last:pb-0">
      <dt className="text-muted">{name}</dt>
      <dd className="font-medium first-letter:uppercase tabular-nums">{value}</dd>
    </div>
  );
}
