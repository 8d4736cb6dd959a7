package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/archmage-go/archmage/build"
)

// shells are those that there is a script for.
func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// completionCommand prints the script by which a shell asks archmage for words.
func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "completion bash|zsh|fish|powershell",
		Short:   "print a script that completes words in your shell",
		GroupID: groupKeep,
		Long: `Prints a script for your shell. It completes verbs, flags, the names of images
and commands, platforms, also within a list, and the values of settings. It reads
the repository and asks no registry.

    source <(archmage completion bash)      # ~/.bashrc
    source <(archmage completion zsh)       # ~/.zshrc, after compinit
    archmage completion fish | source       # ~/.config/fish/config.fish
    archmage completion powershell | Out-String | Invoke-Expression   # $PROFILE

bash needs version 4 or later, and no further package.`,
		Example:   "  archmage completion bash\n  archmage completion zsh",
		ValidArgs: shells(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return build.Usage("one of "+strings.Join(shells(), ", "), "completion: takes the name of one shell")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return bashScript(root, out)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return build.Usage("one of "+strings.Join(shells(), ", "), "completion: no script for %q", args[0])
		},
	}
}

// bashScript is cobra's, made to complete lists, and to do so in any bash.
func bashScript(root *cobra.Command, out io.Writer) error {
	var script strings.Builder
	if err := root.GenBashCompletionV2(&script, true); err != nil {
		return err
	}
	_, err := io.WriteString(out, plainCommas.Replace(script.String())+plainBash)
	return err
}

// plainCommas undoes what bash's %q does to a comma, which means nothing to bash
// outside of braces: what people type, and words are compared with, has none of it.
var plainCommas = strings.NewReplacer(
	`COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]}")`, `COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]}"); COMPREPLY[0]="${COMPREPLY[0]//\\,/,}"`,
	`COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]%%$tab*}")`, `COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]%%$tab*}"); COMPREPLY[0]="${COMPREPLY[0]//\\,/,}"`,
	`< <(printf "%q\n" "${COMPREPLY[@]}")`, `< <(printf "%q\n" "${COMPREPLY[@]}"); COMPREPLY=("${COMPREPLY[@]//\\,/,}")`,
	`comp=$(printf "%q" "${compline%%$tab*}")`, `comp=$(printf "%q" "${compline%%$tab*}"); comp="${comp//\\,/,}"`,
)

// plainBash stands in for the one function of the bash-completion package that
// cobra's script needs, where there is no such package: words are then what blanks
// separate.
const plainBash = `
if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
    __archmage_init_completion()
    {
        local line="${COMP_LINE:0:COMP_POINT}"
        COMPREPLY=()
        read -ra words <<<"${line}"
        if [[ ${line} == *[[:space:]] ]]; then
            words+=("")
        fi
        cword=$((${#words[@]} - 1))
        cur="${words[cword]}"
    }
fi
`
