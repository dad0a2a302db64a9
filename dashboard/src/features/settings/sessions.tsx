import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, type Schema } from "../../api/client.ts";
import { Badge } from "../../ui/badge.tsx";
import { ConfirmButton } from "../../ui/overlay/confirm-button.tsx";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { browserOf } from "./browser.ts";
import { SESSIONS, sessionsQuery } from "./settings.ts";

type Session = Schema["SessionList"]["sessions"][number];

/** Where the owner is signed in, and a way to sign out there. */
export function Sessions() {
  const sessions = useQuery(sessionsQuery);
  if (sessions.isPending) return <Skeleton className="h-24" />;
  if (sessions.isLoadingError) return <ErrorState error={sessions.error} onRetry={sessions.refetch} />;
  return (
    <ul className="-my-3 divide-y divide-line">
      {sessions.data.map((session) => (
        <li key={session.session_id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
          <div className="min-w-0 flex-1">
            <p className="flex flex-wrap items-center gap-2 font-medium">
              {browserOf(session.user_agent)}
              {session.is_current && <Badge tone="success">This session</Badge>}
            </p>
            <p className="text-muted">
              Signed in <Time at={session.created_at} relative />, last used <Time at={session.last_used_at} relative />
            </p>
          </div>
          {!session.is_current && <EndSession session={session} />}
        </li>
      ))}
    </ul>
  );
}

function EndSession({ session }: { session: Session }) {
  const client = useQueryClient();
  const browser = browserOf(session.user_agent);
  const params = { path: { owner_session_id: session.session_id } };
  return (
    <ConfirmButton
      button={{ size: "small" }}
      label="Sign out"
      title={`Sign out of ${browser}?`}
      action="Sign out"
      write={() => api.DELETE("/v1/manage/sessions/{owner_session_id}", { params })}
      done={`Signed out of ${browser}`}
      then={() => client.invalidateQueries({ queryKey: SESSIONS })}
    >
      Anyone who uses that browser has to sign in again.
    </ConfirmButton>
  );
}
