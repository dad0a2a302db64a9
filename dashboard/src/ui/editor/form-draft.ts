import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { fieldsOf, messageAt, Problem } from "../../api/problem.ts";
import { useKeptWork } from "../form/kept-work.ts";
import { changesOf } from "./changes.ts";

/** The changes of a form until they are saved. */
export interface FormDraft<Form> {
  form: Form;
  set(changed: Partial<Form>): void;
  isDirty: boolean;
  /** Whether there is something to save, and nothing in its way. */
  isSavable: boolean;
  isSaving: boolean;
  /** Resolves to whether it was saved. */
  save(): Promise<boolean>;
  discard(): void;
  /** Whether what is edited was changed elsewhere since these changes were begun; nothing is saved until that is settled. */
  isOutdated: boolean;
  /** Puts these changes on top of those that were made elsewhere. */
  keepMine(): void;
  /** Why the last save was refused; null when it was not, or something changed since. */
  refusal: Error | null;
  /** What is wrong with a field, by its path in the API. */
  errorAt(path: string): string | undefined;
  /** The same, for a field or anything in it. */
  errorIn(path: string): string | undefined;
  /** When the changes were made that an earlier visit left unsaved; null for none, or once that is decided. */
  offeredAt: string | null;
  decide(choice: "restore" | "forget"): void;
}

/** What is edited, and how it is saved. */
export interface Edited<Form, Body extends object> {
  /** The form without changes. */
  stored: Form;
  /** Of what is stored; "" for what does not exist yet. */
  version: string;
  /** Names what is edited, for changes that are left unsaved. */
  thing: string;
  /** What to send for a form, and what keeps it from being sent, by the paths of the API. */
  bodyOf(form: Form): { body: Body; faults: ReadonlyMap<string, string> };
  /**
   * @param changes the fields that differ from those stored
   * @param base the version that they were made of
   * @returns the new version
   */
  write(changes: Partial<Body>, base: string): Promise<string>;
}

interface Edits<Form> {
  changed: Partial<Form>;
  base: string;
}

export function useFormDraft<Form extends object, Body extends object>({
  stored,
  version,
  thing,
  bodyOf,
  write,
}: Edited<Form, Body>): FormDraft<Form> {
  const [edits, setEdits] = useState<Edits<Form> | null>(null);
  const [showsFaults, setShowsFaults] = useState(false);
  const isNew = version === "";
  const form = { ...stored, ...edits?.changed };
  const { body, faults } = bodyOf(form);
  const changes = changesOf(bodyOf(stored).body, body);
  const save = useMutation({
    mutationFn: async (sent: Edits<Form> | null) => {
      if (faults.size > 0) throw new Problem(422, [...faults.values()][0] ?? "", new Map(faults));
      const base = await write(changes, sent?.base ?? version);
      // What was typed during the save stays a change; the form of something new stays until the page of what was made shows.
      if (!isNew) setEdits((now) => (now === sent || now === null ? null : { ...now, base }));
    },
  });
  const isMade = isNew && save.isSuccess;
  const isDirty = edits !== null && !isMade && (Object.keys(changes).length > 0 || faults.size > 0);
  const isOutdated = isDirty && edits.base !== version && !save.isPending;
  const { offered, decided, forget } = useKeptWork<Edits<Form>>(thing, () => (isDirty ? edits : null));
  const refused = fieldsOf(save.error);
  const told = showsFaults ? new Map([...refused, ...faults]) : refused;
  const change = (next: (now: Edits<Form> | null) => Edits<Form> | null) => {
    save.reset();
    setEdits(next);
  };
  return {
    form,
    set: (changed) => change((now) => ({ changed: { ...now?.changed, ...changed }, base: now?.base ?? version })),
    isDirty,
    isSavable: isDirty && !isOutdated && !save.isPending,
    isSaving: save.isPending,
    save: async () => {
      setShowsFaults(true);
      return save.mutateAsync(edits).then(
        () => true,
        () => false,
      );
    },
    discard: () => {
      forget();
      setShowsFaults(false);
      change(() => null);
    },
    isOutdated,
    keepMine: () => change((now) => now && { ...now, base: version }),
    refusal: save.error,
    errorAt: (path) => messageAt(told, path),
    errorIn: (path) => told.get(path) ?? [...told].find(([at]) => at.startsWith(`${path}.`))?.[1],
    offeredAt: offered?.at ?? null,
    decide: (choice) => {
      if (choice === "restore" && offered) change(() => offered.work);
      if (choice === "restore") decided();
      else forget();
    },
  };
}
