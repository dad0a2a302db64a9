import { useQuery, useQueryClient } from "@tanstack/react-query";
import { LockKeyhole } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { ListPage } from "../../app/list-page.tsx";
import { ActionsMenu } from "../../ui/overlay/actions-menu.tsx";
import { Confirm } from "../../ui/overlay/confirm.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { MenuItem } from "../../ui/overlay/menu.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { type Column, FIGURES, MOMENT } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { NamedAgents } from "../agents/named-agents.tsx";
import { SecretForm } from "./secret-form.tsx";
import { SECRETS, type Secret, secretsQuery } from "./secrets.ts";

/** What tools and models send and nobody sees: API keys and passwords of the servers that they call. */
export function SecretsPage() {
  const secrets = useQuery(secretsQuery);
  return (
    <ListPage
      title="Secrets"
      description="Keys and passwords that your tools and models send to other servers. Prompts and transcripts never have them."
      query={secrets}
      rows={secrets.data}
      columns={COLUMNS}
      rowKey={({ name }) => name}
      making="New secret"
      dialog={({ open, onClose }) => (
        <Dialog open={open} onClose={onClose} title="New secret">
          <SecretForm onSaved={onClose} onCancel={onClose} />
        </Dialog>
      )}
      first={(make) => (
        <EmptyState icon={LockKeyhole} title="No secrets yet" action={make}>
          Store a key once and refer to it by name: in the headers, authentication, and parameters of your tools, and as
          the key of your own models.
        </EmptyState>
      )}
    />
  );
}

const COLUMNS: readonly Column<Secret>[] = [
  {
    name: "Name",
    className: "max-w-0 w-full min-w-40",
    cell: ({ name }) => <span className="block truncate font-mono text-[0.8125rem] font-medium">{name}</span>,
  },
  { name: "Version", wide: true, ...FIGURES, cell: ({ version }) => version },
  { name: "Value set", ...MOMENT, wide: false, cell: ({ updated_at }) => <Time at={updated_at} relative /> },
  { name: "Created", ...MOMENT, cell: ({ created_at }) => <Time at={created_at} relative /> },
  {
    name: "Actions",
    label: <span className="sr-only">Actions</span>,
    align: "right",
    cell: (secret) => <SecretMenu secret={secret} />,
  },
];

function SecretMenu({ secret }: { secret: Secret }) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<"value" | "delete" | null>(null);
  const close = () => setAsked(null);
  const { name } = secret;
  return (
    <>
      <ActionsMenu label={`Actions for ${name}`}>
        <MenuItem onSelect={() => setAsked("value")}>New value…</MenuItem>
        <MenuItem danger onSelect={() => setAsked("delete")}>
          Delete…
        </MenuItem>
      </ActionsMenu>
      <Dialog open={asked === "value"} onClose={close} title={`New value of “${name}”`}>
        <SecretForm secret={secret} onSaved={close} onCancel={close} />
      </Dialog>
      <Confirm
        open={asked === "delete"}
        onClose={close}
        title={`Delete “${name}”?`}
        action="Delete secret"
        write={() => api.DELETE("/v1/manage/secrets/{secret_name}", { params: { path: { secret_name: name } } })}
        done={`Deleted “${name}”`}
        then={() => client.invalidateQueries({ queryKey: SECRETS })}
        inWords={(error) => <NamedAgents text={error.message} />}
      >
        Only a secret that no tool and no agent uses can be deleted. This cannot be undone.
      </Confirm>
    </>
  );
}
