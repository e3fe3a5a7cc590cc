import { render } from "preact";
import { App } from "./app";
import { applyTheme, followMachine, storedTheme } from "./look/style";
import "./page.css";

applyTheme(storedTheme());
followMachine();
render(<App />, document.getElementById("page")!);
