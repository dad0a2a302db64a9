import { Plus, SearchX } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { SearchInput } from "../ui/form/search-input.tsx";
import { Listed, totalOf } from "../ui/listed.tsx";
import { Page } from "../ui/page.tsx";
import { afterPaint } from "../ui/painted.ts";
import { EmptyState } from "../ui/states.tsx";
import { useMaking } from "./making.ts";

/** How a list is searched. */
interface Search {
  /** Its items, such as "agents". */
  items: string;
  value: string | undefined;
  onChange: (search: string | undefined) => void;
  /** The other filters. */
  more?: ReactNode;
  isFiltered: boolean;
  onClear: () => unknown;
}

interface ListPageProps<Row> extends Omit<ComponentProps<typeof Listed<Row>>, "label" | "empty"> {
  title: string;
  /** The name of the list, if the title is not. */
  label?: string;
  description: string;
  search?: Search;
  /** What the button says that begins a new item, such as "New agent". */
  making: string;
  /** Other ways to new items, before that button. */
  ways?: ReactNode;
  dialog: (shown: { open: boolean; onClose: () => void }) => ReactNode;
  /** What is shown before there is any item. @param make the ways to the first one */
  first: (make: ReactNode) => ReactNode;
}

/** The page of a list to which its owner adds. */
export function ListPage<Row>({
  title,
  description,
  search,
  making,
  ways,
  dialog,
  first,
  ...list
}: ListPageProps<Row>) {
  const [isMaking, setMaking] = useMaking();
  const hasAny = search?.isFiltered || totalOf(list.query) > 0;
  const make = (
    <>
      {ways}
      <Button variant="primary" onClick={() => setMaking(true)}>
        <Plus aria-hidden /> {making}
      </Button>
    </>
  );
  return (
    <Page title={title} description={description} actions={hasAny && make}>
      {hasAny && search && (
        <div className="flex flex-wrap gap-2">
          <SearchInput
            label={`Search ${search.items}`}
            value={search.value ?? ""}
            onChange={(text) => search.onChange(text || undefined)}
          />
          {search.more}
        </div>
      )}
      <Listed label={title} {...list} empty={search?.isFiltered ? <NoneFound {...search} /> : first(make)} />
      {dialog({ open: isMaking, onClose: () => setMaking(false) })}
    </Page>
  );
}

function NoneFound({ items, more, onClear }: Search) {
  return (
    <EmptyState
      icon={SearchX}
      title={`No matching ${items}`}
      action={<Button onClick={() => void afterPaint(onClear)}>Clear {more ? "filters" : "search"}</Button>}
    />
  );
}
