/** Everything that opens over a page except dialogs. The parts share most of their scripts, so they are one script. */
export { OpenedDrawer } from "./opened-drawer.tsx";
export { OpenedItem, OpenedLabel, OpenedLine, OpenedMenu } from "./opened-menu.tsx";
export { OpenedPopover } from "./opened-popover.tsx";
export { ToastCorner } from "./toast-corner.tsx";
