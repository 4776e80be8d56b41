// SPDX-License-Identifier: GPL-3.0-or-later
//
// A job type for Flamenco 3 that bakes the .blend files of a folder in chunks. See docs/automate/farm.md.

const JOB_TYPE = {
    label: "TCB Bake",
    description: "Bake the TCB animation of all .blend files of a folder into another folder",
    settings: [
        { key: "folder", type: "string", subtype: "dir_path", required: true, visible: "submission",
          eval: "str(abspath('//'))",
          evalInfo: { showLinkButton: false, description: "Folder of this file" },
          description: "Folder of the .blend files, on storage shared by the workers" },
        { key: "pattern", type: "string", default: "*.blend", visible: "submission",
          description: "Pattern of the file names; **/*.blend includes subfolders" },
        // The Manager runs compileJob and can't list folders, but Blender can when it submits the job. A generator
        // expression in an eval sees only its first iterable, which therefore contains everything it needs.
        { key: "files", type: "string", required: true,
          eval: "__import__('shlex').join(sorted(file.relative_to(folder).as_posix()" +
                " for folder, pattern, output in" +
                " [(abspath(settings.folder), settings.pattern or '*.blend', abspath(settings.output or '//'))]" +
                " for file in folder.glob(pattern)" +
                " if file.is_file() and file.suffix == '.blend' and not file.name.startswith('.')" +
                " and not file.name.endswith('.flamenco.blend')" +
                " and (output == folder or output not in file.parents)))",
          evalInfo: { showLinkButton: true, description: "All matching files at the time of submission" },
          description: "File names relative to the folder, separated by spaces; quote names with spaces" },
        { key: "output", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder of the results, created if missing. Subfolders are preserved" },
        { key: "chunk_size", type: "int32", default: 10, propargs: { min: 1 }, visible: "submission",
          description: "Number of files per task" },
        { key: "step", type: "float", default: 1.0, propargs: { min: 0.001 },
          description: "Frames between samples" },
        { key: "objects", type: "string", default: "",
          description: "Process only objects with this name; * and ? match any characters. Empty: all" },
        { key: "skip_done", type: "bool", default: true,
          description: "Skip files whose result exists and would be the same" },
        { key: "extra_arguments", type: "string", default: "",
          description: "Additional options of `tcb bake`, as in a shell, such as --tension 0.3 --extend 1 100" },
        // Blender's relative paths, such as //shots, are valid only where the job is submitted.
        { key: "folder_path", type: "string", subtype: "dir_path", visible: "web",
          eval: "str(abspath(settings.folder)) if settings.folder else ''",
          description: "Folder of the .blend files" },
        { key: "output_path", type: "string", subtype: "dir_path", visible: "web",
          eval: "str(abspath(settings.output)) if settings.output else ''",
          description: "Folder of the results" },
    ],
};

function compileJob(job) {
    const settings = settingsOf(job);
    const folder = absolute(settings, "folder");
    const output = absolute(settings, "output");
    const names = namesOf(settings, folder);
    refuseReplacing(names, folder, output);

    const chunkSize = Number(settings.chunk_size);
    if (!(chunkSize >= 1)) {
        throw new Error(`chunk_size is ${settings.chunk_size}, but a task needs at least one file`);
    }
    for (let first = 0; first < names.length; first += chunkSize) {
        job.addTask(bakeTask(names.slice(first, first + chunkSize), folder, output, settings));
    }
}

function bakeTask(names, folder, output, settings) {
    const last = names.length > 1 ? ` to ${names[names.length - 1]}` : "";
    const task = author.Task(`bake ${names[0]}${last}`, "blender");
    const files = names.map((name) => join(folder, name));
    const options = ["--output", output, "--relative-to", folder, "--step", `${settings.step}`];
    if (settings.objects) {
        options.push(`--objects=${settings.objects}`);
    }
    if (settings.skip_done) {
        options.push("--skip-done");
    }
    // Only this worker command can find Blender. {blenderArgs} is omitted because it is for rendering.
    task.addCommand(author.Command("blender-render", {
        exe: "{blender}",
        argsBefore: ["--command", "tcb", "bake"],
        blendfile: files[0],
        args: [...files.slice(1), ...options, ...shellSplit(settings.extra_arguments)],
    }));
    return task;
}

// Returns the submitted settings. Jobs from the web API may omit settings with defaults.
function settingsOf(job) {
    const settings = {};
    for (const { key, default: otherwise } of JOB_TYPE.settings) {
        const value = job.settings[key];
        settings[key] = value === undefined || value === null ? otherwise : value;
    }
    return settings;
}

function absolute(settings, key) {
    const folder = settings[`${key}_path`] || settings[key] || "";
    // A path may start with a Flamenco variable, {shared}.
    if (!/^([/\\{]|[A-Za-z]:[/\\])/.test(folder)) {
        throw new Error(`${key} "${folder}" is not an absolute path`);
    }
    return folder;
}

function namesOf(settings, folder) {
    const names = shellSplit(settings.files || "").map((name) => name.replace(/\\/g, "/"));
    if (names.length === 0) {
        throw new Error(`no .blend file in ${folder} matches ${settings.pattern || "*.blend"}`);
    }
    for (const name of names) {
        if (/^(\/|\{|[A-Za-z]:)/.test(name) || name.split("/").includes("..")) {
            throw new Error(`"${name}" is not a name within ${folder}`);
        }
    }
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) {
        throw new Error(`"${twice}" is listed twice`);
    }
    return names;
}

function refuseReplacing(names, folder, output) {
    const read = new Map(names.map((name) => [comparable(join(folder, name)), name]));
    for (const name of names) {
        const replaced = read.get(comparable(join(output, name)));
        if (replaced !== undefined) {
            throw new Error(`output "${output}" would replace the input file ${replaced}. Choose another folder`);
        }
    }
}

// Unlike path.join, this preserves the two leading slashes of a network path.
function join(folder, name) {
    return name === "" ? folder : `${folder.replace(/[/\\]+$/, "")}/${name}`;
}

// Some file systems ignore case.
function comparable(path) {
    const parts = [];
    for (const part of path.replace(/\\/g, "/").toLowerCase().split("/")) {
        if (part === "..") {
            parts.pop();
        } else if (part !== "" && part !== ".") {
            parts.push(part);
        }
    }
    return parts.join("/");
}
