import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChevronLeft, RotateCcw, Trash2 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { api, type Schema } from "../../api/client.ts";
import { sentenceOf } from "../../api/problem.ts";
import { isMissing, NotFound, PageFailure, PagePending } from "../../app/failures.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { useKeptWork } from "../../ui/form/kept-work.ts";
import { LeftWork } from "../../ui/form/left-work.tsx";
import { useSaveShortcut } from "../../ui/form/save-shortcut.ts";
import { Select } from "../../ui/form/select.tsx";
import { UnsavedChanges } from "../../ui/form/unsaved-changes.tsx";
import { ConfirmButton } from "../../ui/overlay/confirm-button.tsx";
import { tellDone, tellFailure } from "../../ui/overlay/toasts.tsx";
import { Page } from "../../ui/page.tsx";
import { followedAfterPaint, useShownFirst } from "../../ui/painted.ts";
import { Notice, Skeleton } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { AGENTS, agentNamesQuery } from "../agents/agents.ts";
import { PromptEditor } from "./prompt-field.tsx";
import { agentOf, ownPromptTitle, PROMPTS, type Version, versionsQuery } from "./prompts.ts";
import { VersionLabels } from "./version-labels.tsx";

const Difference = lazy(() => import("./difference.tsx").then((module) => ({ default: module.Difference })));

/** A prompt: its text, its versions side by side, and who uses it. */
export function PromptPage() {
  const { promptName } = useParams({ from: "/signed-in/prompts/$promptName" });
  const prompt = useQuery(versionsQuery(promptName));
  if (prompt.isPending) return <PagePending />;
  if (isMissing(prompt.error)) return <NotFound what="prompt" all="/prompts" />;
  if (prompt.isLoadingError) return <PageFailure error={prompt.error} reset={() => prompt.refetch()} />;
  return <PromptView key={promptName} prompt={prompt.data} />;
}

function PromptView({ prompt }: { prompt: Schema["PromptVersions"] }) {
  const { prompt_name: name, versions, used_by = [] } = prompt;
  // An agent's own prompt is shown under the agent's name, as in the list.
  const owner = used_by.find(({ agent_id }) => agent_id === agentOf(name));
  const title = ownPromptTitle(name, owner?.agent_name) ?? name;
  const { version: shownVersion } = useSearch({ from: "/signed-in/prompts/$promptName" });
  const navigate = useNavigate({ from: "/prompts/$promptName" });
  const latest = versions[0] as Version;
  const shown = versions.find(({ prompt_version }) => prompt_version === shownVersion);
  // Until something is typed, a version that was saved elsewhere shows as soon as it is read.
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? latest.prompt_content;
  const isDirty = text !== latest.prompt_content;
  const add = useAddVersion(name);
  const save = async () => {
    const isSaved = await add.mutateAsync(text).then(
      () => true,
      () => false,
    );
    if (isSaved) setTyped((now) => (now === text ? null : now));
    return isSaved;
  };
  const isSavable = isDirty && text !== "" && !add.isPending;
  useSaveShortcut(isSavable && !shown ? save : null);
  const left = useKeptWork<string>(`prompt ${name}`, () => (isDirty ? text : null));
  const decide = (choice: "restore" | "forget") => {
    if (choice === "forget") return left.forget();
    setTyped(left.offered?.work ?? null);
    left.decided();
  };
  const discard = () => {
    left.forget();
    setTyped(null);
  };
  const show = (version: number | undefined) => navigate({ search: version === undefined ? {} : { version } });
  const [marked, mark] = useShownFirst(shown?.prompt_version, show);
  const restore = useRestore(name, () => show(undefined));
  return (
    <Page
      title={title}
      description={title === name ? undefined : <code className="text-[0.8125rem] wrap-anywhere">{name}</code>}
      heading={
        <span className="flex items-center gap-2">
          <Link
            to="/prompts"
            aria-label="All prompts"
            onClick={followedAfterPaint(() => navigate({ to: "/prompts" }))}
            className="-ml-2 rounded-md p-1 text-muted hover:bg-hover active:opacity-80"
          >
            <ChevronLeft className="size-5" aria-hidden />
          </Link>
          {title}
          {title !== name && <Badge>One agent</Badge>}
        </span>
      }
      actions={<DeletePrompt prompt={prompt} title={title} />}
    >
      <div className="grid items-start gap-6 lg:grid-cols-[1fr_17rem]">
        <div className="flex min-w-0 flex-col gap-4">
          {shown ? (
            <VersionView
              prompt={prompt}
              version={shown}
              onRestore={shown === latest ? null : () => restore.mutate(shown.prompt_version)}
              isRestoring={restore.isPending}
              onClose={() => mark(undefined)}
            />
          ) : (
            <>
              <LeftWork at={left.offered?.at ?? null} onDecide={decide} />
              <PromptEditor label="Prompt text" value={text} onChange={setTyped} />
              {add.error && <Notice tone="danger">{sentenceOf(add.error)}</Notice>}
              <div className="flex items-center justify-end gap-2">
                {isDirty && (
                  <Button variant="ghost" onClick={discard}>
                    Discard
                  </Button>
                )}
                <Button
                  variant="primary"
                  disabled={!isDirty || text === ""}
                  busy={add.isPending}
                  aria-keyshortcuts="Control+S Meta+S"
                  title="Ctrl+S"
                  onClick={save}
                >
                  Save as version {latest.prompt_version + 1}
                </Button>
              </div>
            </>
          )}
        </div>
        <div className="flex flex-col gap-4">
          <Versions versions={versions} shown={marked} onShow={mark} />
          <UsedBy prompt={prompt} />
        </div>
      </div>
      <UnsavedChanges isDirty={isDirty} name={title} onSave={isSavable ? save : undefined} onDiscard={discard} />
    </Page>
  );
}

function useAddVersion(name: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (prompt_content: string) =>
      api.PATCH("/v1/public/prompts/{prompt_name}", {
        params: { path: { prompt_name: name } },
        body: { prompt_content },
      }),
    onSuccess: async ({ prompt_version }) => {
      tellDone(`Saved as version ${prompt_version}`);
      // Agents that use it have the new text.
      await Promise.all([PROMPTS, AGENTS].map((queryKey) => client.invalidateQueries({ queryKey })));
    },
  });
}

function useRestore(name: string, onRestored: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (prompt_version: number) =>
      api.POST("/v1/public/prompts/{prompt_name}/restore", {
        params: { path: { prompt_name: name } },
        body: { prompt_version },
      }),
    onSuccess: async ({ prompt_version }) => {
      tellDone(`Saved as version ${prompt_version}`);
      await Promise.all([PROMPTS, AGENTS].map((queryKey) => client.invalidateQueries({ queryKey })));
      onRestored();
    },
    onError: tellFailure,
  });
}

/** A version beside another one. */
function VersionView({
  prompt,
  version,
  onRestore,
  isRestoring,
  onClose,
}: {
  prompt: Schema["PromptVersions"];
  version: Version;
  onRestore: (() => void) | null;
  isRestoring: boolean;
  onClose: () => void;
}) {
  const others = prompt.versions.filter((each) => each !== version);
  const before = others.find(({ prompt_version }) => prompt_version < version.prompt_version) ?? others[0];
  const [comparedTo, setComparedTo] = useState<number | null>(null);
  const [layout, setLayout] = useState<"split" | "inline">("split");
  const other = others.find(({ prompt_version }) => prompt_version === comparedTo) ?? before;
  const [older, newer] =
    other && other.prompt_version < version.prompt_version ? [other, version] : [version, other ?? version];
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-[0.9375rem] font-semibold">Version {version.prompt_version}</h2>
        {other && (
          <>
            <Select
              quiet
              aria-label="Compare with"
              className="sm:w-48"
              value={String(other.prompt_version)}
              onChange={(value) => setComparedTo(Number(value))}
              options={others.map(({ prompt_version }) => ({
                value: String(prompt_version),
                label: `Compared with ${prompt_version}`,
              }))}
            />
            <Button onClick={() => setLayout(layout === "split" ? "inline" : "split")}>
              {layout === "split" ? "Show inline" : "Show side by side"}
            </Button>
          </>
        )}
        {onRestore && (
          <Button busy={isRestoring} onClick={onRestore}>
            <RotateCcw aria-hidden /> Restore
          </Button>
        )}
        <Button variant="ghost" onClick={onClose}>
          Close
        </Button>
      </div>
      <VersionLabels prompt={prompt} version={version} />
      <Suspense fallback={<Skeleton className="h-72 w-full" />}>
        <Difference
          key={`${older.prompt_version}-${newer.prompt_version}-${layout}`}
          before={older.prompt_content}
          after={newer.prompt_content}
          beforeLabel={`Version ${older.prompt_version}`}
          afterLabel={`Version ${newer.prompt_version}`}
          layout={layout}
        />
      </Suspense>
    </>
  );
}

function Versions({
  versions,
  shown,
  onShow,
}: {
  versions: readonly Version[];
  shown: number | undefined;
  onShow: (version: number) => void;
}) {
  return (
    <Card title="Versions">
      <ul className="-mx-2 flex max-h-96 flex-col gap-0.5 overflow-y-auto">
        {versions.map(({ prompt_version, created_at, labels }, at) => (
          <li key={prompt_version}>
            <button
              type="button"
              aria-current={shown === prompt_version}
              onClick={() => onShow(prompt_version)}
              className={clsx(
                "flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-left hover:bg-hover",
                shown === prompt_version && "bg-hover font-medium",
              )}
            >
              <span className="tabular-nums">{prompt_version}</span>
              {at === 0 && <Badge tone="accent">Latest</Badge>}
              {labels.map((label) => (
                <Badge key={label} tone="success">
                  {label}
                </Badge>
              ))}
              <span className="ml-auto text-[0.8125rem] text-muted">
                <Time at={created_at} relative />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function UsedBy({ prompt: { used_by = [], used_by_total = 0 } }: { prompt: Schema["PromptVersions"] }) {
  const names = useQuery(agentNamesQuery).data?.byId;
  return (
    <Card title="Used by">
      {used_by_total === 0 ? (
        <p className="text-muted">No agents yet. Choose this prompt in an agent's Prompt tab.</p>
      ) : (
        <ul className="flex flex-col gap-1.5">
          {used_by.map(({ agent_id, agent_name, prompt_labels }) => (
            <li key={agent_id} className="wrap-anywhere">
              <Link
                to="/agents/$agentId"
                params={{ agentId: agent_id }}
                dir="auto"
                className="text-accent-ink hover:underline"
              >
                {names?.get(agent_id) ?? agent_name}
              </Link>
              {prompt_labels.length > 0 && <span className="text-muted"> follows {prompt_labels.join(", ")}</span>}
            </li>
          ))}
          {used_by_total > used_by.length && <li className="text-muted">and {used_by_total - used_by.length} more</li>}
        </ul>
      )}
    </Card>
  );
}

function DeletePrompt({
  prompt: { prompt_name: name, used_by_total: users = 0 },
  title,
}: {
  prompt: Schema["PromptVersions"];
  title: string;
}) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const leave = async () => {
    await navigate({ to: "/prompts", ignoreBlocker: true });
    client.removeQueries({ queryKey: versionsQuery(name).queryKey });
    await client.invalidateQueries({ queryKey: PROMPTS });
  };
  return (
    <ConfirmButton
      label={
        <>
          <Trash2 aria-hidden /> Delete
        </>
      }
      title={`Delete “${title}”?`}
      action="Delete prompt"
      write={() => api.DELETE("/v1/public/prompts/{prompt_name}", { params: { path: { prompt_name: name } } })}
      done={`Deleted “${title}”`}
      then={leave}
      impossible={users > 0 ? "Agents use this prompt. Give each of them a different prompt first." : undefined}
    >
      This deletes all of its versions and cannot be undone.
    </ConfirmButton>
  );
}
