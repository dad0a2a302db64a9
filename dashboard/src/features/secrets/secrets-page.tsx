import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Ellipsis, LockKeyhole, Plus } from "lucide-react";
import { useState } from "react";
import { api, ask } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/overlay/confirm.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { Menu, MenuItem } from "../../ui/overlay/menu.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { Page } from "../../ui/page.tsx";
import { useShownFirst } from "../../ui/painted.ts";
import { EmptyState, ErrorState, LoadingRows } from "../../ui/states.tsx";
import { type Column, FIGURES, MOMENT, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { SecretForm } from "./secret-form.tsx";
import { SECRETS, type Secret, secretsQuery } from "./secrets.ts";

/** What tools send and nobody sees: API keys and passwords of the servers that they call. */
export function SecretsPage() {
  const { new: isNew = false } = useSearch({ from: "/signed-in/secrets" });
  const navigate = useNavigate({ from: "/secrets" });
  const secrets = useQuery(secretsQuery);
  const [isMaking, setMaking] = useShownFirst(isNew, (making) => navigate({ search: making ? { new: true } : {} }));
  const make = (
    <Button variant="primary" onClick={() => setMaking(true)}>
      <Plus aria-hidden /> New secret
    </Button>
  );
  return (
    <Page
      title="Secrets"
      description="Keys and passwords that your tools send to other servers. Models and transcripts never have them."
      actions={secrets.data && secrets.data.length > 0 && make}
    >
      {secrets.isPending ? (
        <LoadingRows rows={3} />
      ) : secrets.isLoadingError ? (
        <ErrorState error={secrets.error} onRetry={secrets.refetch} />
      ) : secrets.data.length === 0 ? (
        <EmptyState icon={LockKeyhole} title="No secrets yet" action={make}>
          Store a key once and refer to it by name in the headers, authentication, and parameters of your tools.
        </EmptyState>
      ) : (
        <Table label="Secrets" columns={COLUMNS} rows={secrets.data} rowKey={({ name }) => name} />
      )}
      <Dialog open={isMaking} onClose={() => setMaking(false)} title="New secret">
        <SecretForm onSaved={() => setMaking(false)} onCancel={() => setMaking(false)} />
      </Dialog>
    </Page>
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
  const remove = useMutation({
    mutationFn: () => ask(api.DELETE("/v1/manage/secrets/{secret_name}", { params: { path: { secret_name: name } } })),
    onSuccess: async () => {
      close();
      tellDone(`Deleted “${name}”`);
      await client.invalidateQueries({ queryKey: SECRETS });
    },
  });
  return (
    <>
      <Menu
        trigger={
          <Button variant="ghost" size="icon" className="relative" aria-label={`Actions for ${name}`}>
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        <MenuItem onSelect={() => setAsked("value")}>New value…</MenuItem>
        <MenuItem danger onSelect={() => setAsked("delete")}>
          Delete…
        </MenuItem>
      </Menu>
      <Dialog open={asked === "value"} onClose={close} title={`New value of “${name}”`}>
        <SecretForm secret={secret} onSaved={close} onCancel={close} />
      </Dialog>
      <Confirm
        open={asked === "delete"}
        onClose={close}
        title={`Delete “${name}”?`}
        action="Delete secret"
        write={remove}
      >
        Only a secret that no tool uses can be deleted. This cannot be undone.
      </Confirm>
    </>
  );
}
