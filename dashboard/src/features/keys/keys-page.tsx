import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { api, type Schema } from "../../api/client.ts";
import { ListPage } from "../../app/list-page.tsx";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { ActionsMenu } from "../../ui/overlay/actions-menu.tsx";
import { Confirm } from "../../ui/overlay/confirm.tsx";
import { MenuItem } from "../../ui/overlay/menu.tsx";
import { tellFailure } from "../../ui/overlay/toasts.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { type Column, MOMENT } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { KEYS, keysQuery } from "./keys.ts";
import { NewKeyDialog } from "./new-key-dialog.tsx";

type Key = Schema["ListedKey"];

export function KeysPage() {
  const keys = useQuery(keysQuery);
  return (
    <ListPage
      title="API keys"
      description="An API key lets a program use the API on your behalf. It is shown only once, when you create it."
      query={keys}
      rows={keys.data}
      columns={COLUMNS}
      rowKey={({ key_id }) => key_id}
      making="New API key"
      dialog={(shown) => <NewKeyDialog {...shown} />}
      first={(make) => (
        <EmptyState icon={KeyRound} title="No API keys yet" action={make}>
          Programs send a key with every request, in the <code className="font-mono">X-API-Key</code> header.
        </EmptyState>
      )}
    />
  );
}

const STATUS: Record<Key["status"], { label: string; tone: Tone }> = {
  active: { label: "Active", tone: "success" },
  inactive: { label: "Inactive", tone: "neutral" },
  expired: { label: "Expired", tone: "warning" },
};

const COLUMNS: readonly Column<Key>[] = [
  {
    name: "Name",
    className: "max-w-0 w-full min-w-40",
    cell: ({ name, prefix }) => (
      <>
        <span dir="auto" className="block truncate font-medium">
          {name ?? "Unnamed"}
        </span>
        <span className="font-mono text-xs text-muted">{prefix}…</span>
      </>
    ),
  },
  { name: "Status", cell: ({ status }) => <Badge tone={STATUS[status].tone}>{STATUS[status].label}</Badge> },
  {
    name: "Scopes",
    wide: true,
    className: "max-w-72 whitespace-nowrap text-muted",
    cell: ({ scopes }) => <Scopes scopes={scopes} />,
  },
  {
    name: "Expires",
    ...MOMENT,
    cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} relative /> : "Never"),
  },
  {
    name: "Last used",
    ...MOMENT,
    cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} relative /> : "Never"),
  },
  { name: "Created", ...MOMENT, cell: ({ created_at }) => <Time at={created_at} relative /> },
  {
    name: "Actions",
    label: <span className="sr-only">Actions</span>,
    align: "right",
    cell: (key) => <KeyMenu apiKey={key} />,
  },
];

const SCOPES_SHOWN = 2;

/** Shows as many as fit in a line; all of them on hover, and for screen readers. */
function Scopes({ scopes }: Pick<Key, "scopes">) {
  if (scopes.includes("*")) return scopes.includes("agents:override") ? "Full access, with override" : "Full access";
  const rest = scopes.length - SCOPES_SHOWN;
  return (
    <span title={scopes.join(", ")} className="relative block truncate">
      {scopes.slice(0, SCOPES_SHOWN).join(", ")}
      {rest > 0 && (
        <>
          <span aria-hidden> +{rest}</span>
          <span className="sr-only">, {scopes.slice(SCOPES_SHOWN).join(", ")}</span>
        </>
      )}
    </span>
  );
}

function KeyMenu({ apiKey }: { apiKey: Key }) {
  const client = useQueryClient();
  const [isRevoking, setRevoking] = useState(false);
  const name = apiKey.name ?? apiKey.prefix;
  const params = { path: { key_id: apiKey.key_id } };
  const refresh = () => client.invalidateQueries({ queryKey: KEYS });
  const turn = useMutation({
    mutationFn: () =>
      apiKey.status === "active"
        ? api.POST("/v1/manage/keys/{key_id}/deactivate", { params })
        : api.POST("/v1/manage/keys/{key_id}/activate", { params }),
    onSuccess: refresh,
    onError: tellFailure,
  });
  return (
    <>
      <ActionsMenu label={`Actions for ${name}`}>
        {apiKey.status !== "expired" && (
          <MenuItem onSelect={() => turn.mutate()}>{apiKey.status === "active" ? "Deactivate" : "Activate"}</MenuItem>
        )}
        <MenuItem danger onSelect={() => setRevoking(true)}>
          Revoke…
        </MenuItem>
      </ActionsMenu>
      <Confirm
        open={isRevoking}
        onClose={() => setRevoking(false)}
        title={`Revoke “${name}”?`}
        action="Revoke key"
        write={() => api.DELETE("/v1/manage/keys/{key_id}", { params })}
        done={`Revoked “${name}”`}
        then={refresh}
      >
        Requests with this key are rejected within a second. This cannot be undone.
      </Confirm>
    </>
  );
}
